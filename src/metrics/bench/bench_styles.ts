// Styles of the card of a named measurement, on the variables of the page's theme.

import { css } from 'lit';

export const benchStyles = css`
  :host { position: fixed; inset-block-start: 64px; inset-inline: 0; z-index: 30; display: flex; justify-content: center; pointer-events: none; }
  section {
    position: relative; box-sizing: border-box; width: min(520px, 100vw - 24px); max-height: calc(100dvh - 90px); padding: 18px 20px; overflow-y: auto;
    border: 1px solid var(--v-line); border-radius: var(--v-radius-large); background: var(--v-surface); color: var(--v-ink);
    box-shadow: 0 12px 40px var(--v-shadow); font: 400 var(--v-size) / 1.45 var(--v-font); font-variant-numeric: tabular-nums; pointer-events: auto;
  }
  h2 { margin: 0 32px 2px 0; font-size: var(--v-size-reading); font-weight: 600; overflow-wrap: anywhere; }
  p { margin: 0 0 10px; overflow-wrap: anywhere; text-wrap: pretty; }
  .what, .said, small, .machine { color: var(--v-muted); font-size: var(--v-size-small); }
  .said { margin: 8px 0 0; }
  .said:empty { display: none; }
  .failed { border-inline-start: 3px solid var(--v-danger); padding-inline-start: 12px; }
  .row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
  button {
    min-height: 36px; padding: 6px 12px; border: 1px solid var(--v-line); border-radius: var(--v-radius); background: none; color: inherit;
    font: inherit; cursor: pointer;
  }
  button:hover:not(:disabled) { border-color: var(--v-muted); }
  button:disabled { opacity: 0.5; cursor: default; }
  .primary { border-color: transparent; background: var(--v-accent); color: var(--v-accent-ink); font-weight: 600; }
  .close { position: absolute; inset-block-start: 10px; inset-inline-end: 10px; padding: 0; width: 36px; border: 0; font-size: var(--v-size-reading); line-height: 1; }
  a { color: var(--v-accent); }
  :focus-visible { outline: 2px solid var(--v-accent); outline-offset: 2px; }
  ul { margin: 0; padding-inline-start: 18px; }
  progress { flex: 1; min-width: 80px; height: 6px; accent-color: var(--v-accent); }
  dl { display: grid; gap: 4px; margin: 6px 0 12px; }
  dl > div { display: flex; align-items: baseline; justify-content: space-between; gap: 12px; border-bottom: 1px solid var(--v-line); padding-bottom: 4px; }
  dl > div:first-child { font-size: var(--v-size-display); line-height: 1.2; letter-spacing: -0.01em; }
  dl > div:first-child dt { font-size: var(--v-size); letter-spacing: 0; }
  dt { color: var(--v-muted); }
  dd { margin: 0; text-align: end; }
  dd small { display: block; line-height: 1.3; letter-spacing: 0; }
  @media (pointer: coarse) { button { min-height: 44px; } .close { width: 44px; } }
`;
