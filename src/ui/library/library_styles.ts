// Styles of the list of conversations. It fills the height of its container.

import { css } from 'lit';

export const libraryStyles = css`
  :host {
    display: flex; flex-direction: column; gap: 8px; height: 100%; min-height: 0; padding: 12px 10px; font: 400 var(--v-size) / 1.4 var(--v-font);
    color: var(--v-ink);
  }
  .fresh { flex: none; justify-content: center; }
  .fresh svg { width: 18px; height: 18px; }

  .list { flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--v-line) transparent; }
  h2 { margin: 14px 0 4px; padding-inline: 10px; font-size: var(--v-size-small); font-weight: 600; color: var(--v-muted); }
  h2:first-child { margin-top: 4px; }
  ul { margin: 0; padding: 0; list-style: none; }
  .row { position: relative; display: flex; align-items: center; border-radius: 9px; content-visibility: auto; contain-intrinsic-height: auto 36px; }
  .row + .row { margin-top: 2px; }
  .row:hover, .row:focus-within { background: var(--v-sunken); }
  .row.current { background: var(--v-accent-soft); }
  .title {
    flex: 1; min-width: 0; height: 36px; padding: 0 10px; border: 0; border-radius: 9px; background: none; text-align: start; cursor: pointer;
    overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate;
  }
  .current .title { font-weight: 550; }
  .title:focus-visible, .rename:focus-visible { outline-offset: -2px; }
  .actions { display: none; flex: none; padding-inline-end: 4px; }
  .row:hover .actions, .row:focus-within .actions { display: flex; }
  @media (hover: none) { .actions { display: flex; } }
  .actions .icon:hover { background: var(--v-surface); }
  .rename {
    flex: 1; min-width: 0; height: 36px; padding: 0 9px; border: 1px solid var(--v-accent); border-radius: 9px; background: var(--v-surface);
    color: inherit; font: inherit;
  }
  .empty { margin: 8px 10px; color: var(--v-muted); }

  .note {
    flex: none; display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding: 6px 6px 6px 12px; border-radius: 10px;
    background: var(--v-sunken);
  }
  .note:not(:has(p)) { padding: 0; margin-top: -8px; background: none; }
  .note[role='alert'] { box-shadow: inset 3px 0 var(--v-danger); }
  .note p { flex: 1 1 120px; margin: 0; padding: 3px 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }
  .note .button { padding: 4px 10px; }

  footer { flex: none; display: flex; flex-wrap: wrap; gap: 4px 14px; padding: 8px 10px 0; border-top: 1px solid var(--v-line); }
  .link {
    padding: 4px 0; border: 0; border-radius: 4px; background: none; color: var(--v-muted); font-size: var(--v-size); cursor: pointer;
  }
  .link:hover:not(:disabled) { color: var(--v-ink); text-decoration: underline; }
  .kept { flex-basis: 100%; margin: 2px 0 0; color: var(--v-muted); font-size: var(--v-size-small); }
`;
