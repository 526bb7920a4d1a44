// The settings popover: one row a setting, in four columns.

import { css } from 'lit';

export const settingsStyles = css`
  :host { display: inline-block; }
  #panel {
    position: fixed; inset: auto; margin: 0; padding: 14px 16px 16px; border: 1px solid var(--v-line); border-radius: 14px;
    background: var(--v-surface); color: var(--v-ink); box-shadow: 0 18px 50px -16px var(--v-shadow); overflow-y: auto; scroll-padding-block: 54px 90px;
    font: 400 var(--v-size) / 1.4 var(--v-font); overscroll-behavior: contain;
  }
  /* In sight however far down the panel is scrolled: a phone has no Escape. */
  header {
    position: sticky; z-index: 1; top: -14px; display: flex; align-items: center; gap: 6px; margin-block: -8px 0; margin-inline: -16px -9px;
    padding: 4px 0; padding-inline-start: 16px; background: var(--v-surface);
  }
  @media (max-height: 400px) { header { position: static; } }
  h2 { flex: 1; margin: 0; font-size: var(--v-size-reading); font-weight: 600; }
  h3 { margin: 14px 0 6px; padding-top: 13px; border-top: 1px solid var(--v-line); font-size: var(--v-size); font-weight: 600; }
  .link { border: 0; background: none; padding: 2px; color: var(--v-accent); cursor: pointer; font-size: var(--v-size); }
  .link:hover { text-decoration: underline; }
  .system { margin-bottom: 10px; }
  .system label { display: block; margin-bottom: 5px; }
  textarea {
    display: block; width: 100%; max-height: 30vh; padding: 7px 9px; border: 1px solid var(--v-line); border-radius: 7px; background: var(--v-bg);
    color: inherit; font: inherit; resize: vertical; overflow-y: auto;
  }
  textarea::placeholder { color: var(--v-muted); opacity: 1; }
  .field { display: grid; grid-template-columns: 9.3em 1fr 5.6em 28px; align-items: center; gap: 8px; min-height: 36px; }
  .field.load { grid-template-columns: 9.3em 1fr 28px; margin-block: 5px; min-height: 0; }
  .field .help { grid-column: 2; margin: -4px 0 2px; color: var(--v-muted); font-size: var(--v-size-small); }
  .presets { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 10px; }
  .presets [aria-pressed='true'] { border-color: var(--v-accent); background: var(--v-accent-soft); }
  @media (forced-colors: active) { .presets [aria-pressed='true'] { border-width: 2px; } }
  .presets + .help { margin: 6px 0 8px; color: var(--v-muted); font-size: var(--v-size-small); }
  select { text-overflow: ellipsis; }
  .field .icon:disabled { visibility: hidden; }
  label { color: var(--v-ink); }
  input, select { font: inherit; color: inherit; min-width: 0; }
  input[type='range'] { width: 100%; accent-color: var(--v-accent); }
  input[type='number'], select {
    width: 100%; padding: 4px 7px; border: 1px solid var(--v-line); border-radius: 7px; background: var(--v-bg);
    font-variant-numeric: tabular-nums;
  }
  input[type='number'] { appearance: textfield; text-align: end; }
  input[type='number']::-webkit-inner-spin-button { display: none; }
  input::placeholder { color: var(--v-muted); font-size: var(--v-size); }
  @media (pointer: coarse) {
    .field { grid-template-columns: 8em 1fr 5.6em 44px; min-height: 48px; }
    .field.load { grid-template-columns: 8em 1fr 44px; }
    input[type='number'], select { min-height: 44px; }
    input[type='range'] { height: 44px; }
  }
  /* In sight as soon as a setting waits for it, however far down the panel is scrolled. */
  .reload { position: sticky; bottom: -16px; display: flex; align-items: center; gap: 12px; margin-top: 10px; padding: 10px 12px; border-radius: 10px; background: var(--v-accent-soft); }
  .reload p { margin: 0; flex: 1; font-size: var(--v-size); }
  .reload .button { white-space: nowrap; }
  @media (max-width: 420px) {
    .field { grid-template-columns: 7.2em 1fr 5.2em 28px; gap: 6px; }
  }
  @media (max-width: 420px) and (pointer: coarse) {
    .field { grid-template-columns: 7.2em 1fr 5.4em 44px; gap: 4px; }
    .field.load { grid-template-columns: 7.2em 1fr 44px; }
  }
`;
