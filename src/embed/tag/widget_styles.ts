// Styles of the round button in a corner of another page, and of its window. The page's rules for every element must
// not reach the host: `!important` in a shadow tree wins over the page's own `!important`.

import { css } from 'lit';

export const widgetStyles = css`
  :host {
    all: initial !important; position: fixed !important; z-index: 2147483647 !important; display: block !important;
    inset-block: auto max(20px, env(safe-area-inset-bottom)) !important; inset-inline: auto 20px !important;
    font: 400 var(--v-size-reading) / 1.5 var(--v-font) !important;
  }
  :host([data-position='bottom-right']) { inset: auto 20px max(20px, env(safe-area-inset-bottom)) auto !important; }
  :host([data-position='bottom-left']) { inset: auto auto max(20px, env(safe-area-inset-bottom)) 20px !important; }
  .launcher {
    display: grid; place-items: center; width: 56px; height: 56px; padding: 0; border: 0; border-radius: 50%; cursor: pointer;
    background: var(--v-accent); color: var(--v-accent-ink); box-shadow: 0 8px 28px -8px var(--v-shadow), 0 1px 3px var(--v-shadow);
    transition: scale 120ms;
  }
  .launcher:hover { scale: 1.05; }
  .launcher:focus-visible { outline: 3px solid var(--v-accent); outline-offset: 3px; }
  .launcher svg { width: 26px; height: 26px; }
  .window {
    position: absolute; bottom: 70px; inset-inline-end: 0; display: flex; flex-direction: column; width: min(400px, 100vw - 40px);
    height: min(640px, 100dvh - 110px); border: 1px solid var(--v-line); border-radius: var(--v-radius-large); overflow: hidden; outline: none;
    background: var(--v-bg); color: var(--v-ink); scrollbar-color: var(--v-line) transparent; box-shadow: 0 24px 70px -20px var(--v-shadow); animation: rise 140ms ease-out;
  }
  @keyframes rise { from { opacity: 0; translate: 0 10px; } }
  :host([data-position='bottom-right']) .window { inset-inline: auto; right: 0; left: auto; }
  :host([data-position='bottom-left']) .window { inset-inline: auto; left: 0; right: auto; }
  .window.alone { bottom: 0; }
  header { display: flex; align-items: center; gap: 2px; padding: 8px; padding-inline-start: 18px; border-bottom: 1px solid var(--v-line); }
  h2 { flex: 1; min-width: 0; margin: 0; overflow: hidden; font: 600 var(--v-size-reading) / 1.3 var(--v-font); text-overflow: ellipsis; white-space: nowrap; }
  .icon[aria-pressed='true'] { color: var(--v-accent); }
  vivace-chat, vivace-metrics { flex: 1; min-height: 0; }
  vivace-chat { padding-bottom: 8px; }
  vivace-metrics { padding: 16px 18px; overflow-y: auto; }
  vivace-metrics:not(:defined) { color: var(--v-muted); font-size: var(--v-size); }
  .picture { width: 32px; height: 32px; object-fit: contain; border-radius: 50%; }
  .footer { margin: 0; padding: 0 18px 10px; color: var(--v-muted); font-size: var(--v-size-small); text-align: center; overflow-wrap: anywhere; }
  .waiting { padding: 8px 14px 0; }
  .waiting[hidden] { display: none; }
  @media print {
    :host { display: none !important; }
  }
  @media (forced-colors: active) {
    .launcher, .icon[aria-pressed='true'] { border: 2px solid ButtonText; }
  }
  @media (max-width: 480px) {
    .window, :host([data-position]) .window { position: fixed; inset: 0; width: auto; height: 100dvh; border: 0; border-radius: 0; }
    :host([data-open]) .launcher { display: none; }
  }
`;
