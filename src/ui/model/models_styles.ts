// The dialog of models: one column, rows that wrap on a phone.

import { css } from 'lit';

export const modelsStyles = css`
  :host { display: contents; }
  dialog {
    width: min(46rem, calc(100vw - 16px)); max-height: min(46rem, calc(100dvh - 16px)); padding: 0; border: 1px solid var(--v-line);
    border-radius: 16px; background: var(--v-surface); color: var(--v-ink); box-shadow: 0 24px 70px -20px var(--v-shadow);
    font: 400 var(--v-size) / 1.45 var(--v-font); overflow-y: auto; overscroll-behavior: contain; scroll-padding-top: 64px;
  }
  dialog::backdrop { background: rgb(0 0 0 / 0.35); }
  .inside { padding: 16px 20px 20px; }
  /* In sight however far down the dialog is scrolled: a phone has no Escape. */
  header {
    position: sticky; z-index: 1; top: 0; display: flex; align-items: center; justify-content: space-between; margin: -16px -20px 4px;
    padding-block: 16px 8px; padding-inline: 20px 13px; background: var(--v-surface);
  }
  @media (max-height: 400px) { header { position: static; } }
  h2 { margin: 0; font-size: var(--v-size-reading); font-weight: 600; }
  h3 { margin: 0 0 8px; font-size: var(--v-size); font-weight: 600; }
  p { margin: 0; }
  section, form { padding-block: 16px; border-top: 1px solid var(--v-line); }
  .inside > section:last-of-type { padding-bottom: 0; }
  form label { display: block; margin-bottom: 8px; font-size: var(--v-size); font-weight: 600; }
  vivace-catalogue { display: block; min-height: 12rem; margin-bottom: 20px; }
  .row { display: flex; align-items: center; gap: 8px; }
  .row.wrap { flex-wrap: wrap; }
  .help, .complaint { margin-top: 7px; color: var(--v-muted); font-size: var(--v-size-small); overflow-wrap: anywhere; }
  .complaint { color: var(--v-danger); }
  input[type='text'] {
    flex: 1; min-width: 0; padding: 8px 11px; border: 1px solid var(--v-line); border-radius: 9px; background: var(--v-bg); color: inherit;
    font: 400 var(--v-size) / 1.3 var(--v-mono);
  }
  @media (pointer: coarse) {
    input[type='text'] { min-height: 44px; }
  }
  input::placeholder { color: var(--v-muted); }
  input[aria-invalid='true'] { border-color: var(--v-danger); }
  .use-server { margin-top: 10px; }
  .file { position: relative; }
  .file input { position: absolute; inset: 0; width: 100%; opacity: 0; cursor: pointer; font-size: 0; }
  .file:focus-within { outline: 2px solid var(--v-accent); outline-offset: 2px; }
  #kept-title:focus { outline: none; }
  ul { margin: 0; padding: 0; list-style: none; }
  li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 16px; padding-block: 10px; }
  li + li { border-top: 1px solid var(--v-line); }
  .what { flex: 1 1 14rem; min-width: 0; overflow-wrap: anywhere; }
  .what strong { font-weight: 600; }
  .what span:not(.running) { display: block; color: var(--v-muted); font-size: var(--v-size-small); font-variant-numeric: tabular-nums; }
  .what .address { font-family: var(--v-mono); font-size: var(--v-size-small); }
  .running {
    display: inline-block; padding: 1px 8px; border-radius: 99px; background: var(--v-accent-soft); color: var(--v-accent);
    font-size: var(--v-size-small); font-weight: 600; vertical-align: 1px;
  }
`;
