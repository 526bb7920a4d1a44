// Styles that all components of the page share: buttons, focus, text for screen readers only.

import { css } from 'lit';

export const sharedStyles = css`
  *, *::before, *::after { box-sizing: border-box; }
  [hidden] { display: none !important; }
  button { font: inherit; color: inherit; }
  :focus-visible { outline: 2px solid var(--v-accent); outline-offset: 2px; }
  svg { display: block; }
  /* Each line takes the direction of its first letter. With dir="auto", a paste would read the whole text again per
     line. */
  textarea { unicode-bidi: plaintext; text-align: start; }
  .button {
    display: inline-flex; align-items: center; gap: 6px; padding: 7px 13px; border: 1px solid var(--v-line); border-radius: 9px;
    background: var(--v-surface); font-size: var(--v-size); font-weight: 500; cursor: pointer;
  }
  .button:hover:not(:disabled) { border-color: color-mix(in srgb, var(--v-ink) 30%, var(--v-line)); }
  .button.primary { background: var(--v-accent); border-color: transparent; color: var(--v-accent-ink); }
  .button.primary:hover:not(:disabled) { background: color-mix(in srgb, var(--v-accent) 88%, var(--v-ink)); }
  .icon {
    display: inline-grid; place-items: center; width: 34px; height: 34px; padding: 0; border: 0; border-radius: 9px; background: none;
    color: var(--v-muted); cursor: pointer;
  }
  .icon:hover:not(:disabled, [aria-disabled='true']) { background: var(--v-sunken); color: var(--v-ink); }
  .icon.small { width: 28px; height: 28px; border-radius: 7px; }
  .icon.small svg { width: 16px; height: 16px; }
  .detail { margin-top: 6px; color: var(--v-muted); font-size: var(--v-size); overflow-wrap: anywhere; }
  .detail summary { cursor: pointer; }
  .detail p { margin: 4px 0 0; }
  button:disabled { opacity: 0.45; cursor: default; }
  /* A finger needs 44 pixels, and a phone zooms into a field with smaller letters than these. */
  @media (pointer: coarse) {
    .icon, .icon.small { width: 44px; height: 44px; }
    .button, .link { min-height: 44px; }
    input, textarea, select { font-size: var(--v-size-reading) !important; }
  }
  .unseen {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    *, *::before, *::after {
      animation: none !important; transition: none !important; scroll-behavior: auto !important;
    }
  }
`;
