// Styles of the list of conversations. It fills the height of its container.

import { css } from 'lit';

export const libraryStyles = css`
  :host {
    display: flex; flex-direction: column; gap: 8px; height: 100%; min-height: 0; padding: 12px 10px; font: 400 var(--v-size) / 1.4 var(--v-font);
    color: var(--v-ink);
  }
  .fresh { flex: none; justify-content: center; }
  .fresh svg { width: 18px; height: 18px; }

  .search { position: relative; flex: none; display: flex; align-items: center; }
  .search svg { width: 17px; height: 17px; }
  .search > svg { position: absolute; inset-inline-start: 10px; color: var(--v-muted); pointer-events: none; }
  .search input {
    flex: 1; min-width: 0; height: 36px; padding-block: 0; padding-inline: 34px 52px; border: 1px solid var(--v-line); border-radius: 9px;
    background: var(--v-surface); color: inherit; font: inherit;
  }
  .search input::placeholder { color: var(--v-muted); opacity: 1; }
  .search input::-webkit-search-cancel-button { display: none; }
  .search kbd {
    position: absolute; inset-inline-end: 9px; color: var(--v-muted); font: 500 var(--v-size-small) / 1 var(--v-font); pointer-events: none;
  }
  .search .icon { position: absolute; inset-inline-end: 4px; }
  @media (hover: none) {
    .search input { height: 44px; font-size: var(--v-size-reading); }
    .search kbd { display: none; }
    .search .icon { width: 40px; height: 40px; inset-inline-end: 2px; }
  }
  .searched { margin: 6px 10px; color: var(--v-muted); font-size: var(--v-size-small); }
  .searched:empty { margin: 0; }
  .results { display: grid; gap: 2px; }
  .result {
    display: grid; gap: 2px; width: 100%; padding: 8px 10px; border: 0; border-radius: 9px; background: none; text-align: start; cursor: pointer;
  }
  .result:hover, .result:focus-visible { background: var(--v-sunken); }
  .result.current { background: var(--v-accent-soft); }
  .result:focus-visible { outline-offset: -2px; }
  .result strong { font-weight: 550; }
  /* Two lines of a title: many begin with the same words. */
  .title span, .result strong, .excerpt { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; overflow-wrap: anywhere; }
  .excerpt { -webkit-line-clamp: 3; color: var(--v-muted); font-size: var(--v-size-small); line-height: 1.45; }
  mark { border-radius: 3px; background: color-mix(in srgb, var(--v-accent) 24%, transparent); color: var(--v-ink); }

  .list { flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin; }
  h2 { margin: 14px 0 4px; padding-inline: 10px; font-size: var(--v-size-small); font-weight: 600; color: var(--v-muted); }
  h2:first-child { margin-top: 4px; }
  ul { margin: 0; padding: 0; list-style: none; }
  .row { position: relative; display: flex; align-items: center; border-radius: 9px; content-visibility: auto; contain-intrinsic-height: auto 36px; }
  .row + .row { margin-top: 2px; }
  .row:hover, .row:focus-within { background: var(--v-sunken); }
  .row.current { background: var(--v-accent-soft); }
  .title {
    flex: 1; min-width: 0; min-height: 36px; padding: 6px 10px; border: 0; border-radius: 9px; background: none; text-align: start; cursor: pointer;
    unicode-bidi: isolate;
  }
  .current .title { font-weight: 550; }
  .title:focus-visible, .rename:focus-visible { outline-offset: -2px; }
  .actions { flex: none; display: flex; padding-inline-end: 4px; opacity: 0; } /* takes the focus of a menu that closes */
  .row:hover .actions, .row:focus-within .actions { opacity: 1; }
  @media (hover: none) { .actions { opacity: 1; } }
  .actions .icon:hover { background: var(--v-surface); }
  .menu {
    position: fixed; inset: auto; margin: 0; padding: 5px; border: 1px solid var(--v-line); border-radius: 11px; background: var(--v-surface);
    color: var(--v-ink); box-shadow: 0 8px 30px -8px var(--v-shadow);
  }
  .menu:popover-open { display: grid; }
  .menu button { min-height: 36px; padding: 0 14px 0 10px; border: 0; border-radius: 7px; background: none; text-align: start; cursor: pointer; }
  .menu button:is(:hover, :focus-visible) { background: var(--v-sunken); }
  .menu button:focus-visible { outline-offset: -2px; }
  .menu .delete { color: var(--v-danger); }
  @media (hover: none) { .menu button { min-height: 44px; } }
  .rename {
    flex: 1; min-width: 0; height: 36px; padding: 0 9px; border: 1px solid var(--v-accent); border-radius: 9px; background: var(--v-surface);
    color: inherit; font: inherit;
  }
  @media (pointer: coarse) {
    .title { min-height: 44px; }
    .rename, .search input { height: 44px; }
    .menu button { min-height: 44px; }
  }
  @media (max-height: 400px) { .list { flex: none; overflow: visible; } }
  @media (forced-colors: active) {
    .row.current { outline: 2px solid Highlight; outline-offset: -2px; }
    .note:has(p) { border: 1px solid; }
  }
  .empty { margin: 8px 10px; color: var(--v-muted); }

  .note {
    flex: none; display: flex; align-items: center; gap: 2px; padding: 6px 6px 6px 12px; border-radius: 10px; background: var(--v-sunken);
  }
  .note:not(:has(p)) { padding: 0; margin-top: -8px; background: none; }
  .note[role='alert'] { box-shadow: inset 3px 0 var(--v-danger); }
  .note p { flex: 1; min-width: 0; margin: 0; padding: 3px 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }
  .note :is(.button, .icon) { flex: none; }
  .note .button { padding: 4px 10px; }

  footer { flex: none; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 8px; padding: 8px 10px 0; border-top: 1px solid var(--v-line); }
  .link {
    padding: 4px 0; border: 0; border-radius: 4px; background: none; color: var(--v-muted); font-size: var(--v-size); cursor: pointer;
  }
  .link:hover:not(:disabled) { color: var(--v-ink); text-decoration: underline; }
  .kept { flex-basis: 100%; margin: 2px 0 0; color: var(--v-muted); font-size: var(--v-size-small); }
`;
