// A round button in a corner of somebody else's page, and the window that it opens.

import { css } from 'lit';

export const widgetStyles = css`
  :host { all: initial; position: fixed; z-index: 2147483000; bottom: 20px; right: 20px; font-family: var(--v-font); }
  :host([data-position='bottom-left']) { right: auto; left: 20px; }
  .launcher {
    display: grid; place-items: center; width: 56px; height: 56px; padding: 0; border: 0; border-radius: 50%; cursor: pointer;
    background: var(--v-accent); color: var(--v-accent-ink); box-shadow: 0 8px 28px -8px var(--v-shadow), 0 1px 3px var(--v-shadow);
  }
  .launcher svg { width: 26px; height: 26px; }
  .window {
    position: absolute; bottom: 70px; right: 0; display: flex; flex-direction: column; width: min(400px, 100vw - 40px);
    height: min(640px, 100dvh - 110px); border: 1px solid var(--v-line); border-radius: 18px; overflow: hidden;
    background: var(--v-bg); color: var(--v-ink); box-shadow: 0 24px 70px -20px var(--v-shadow);
  }
  :host([data-position='bottom-left']) .window { right: auto; left: 0; }
  header { display: flex; align-items: center; gap: 2px; padding: 8px 8px 8px 18px; border-bottom: 1px solid var(--v-line); }
  h2 { flex: 1; min-width: 0; margin: 0; overflow: hidden; font: 600 15px / 1.3 var(--v-font); text-overflow: ellipsis; white-space: nowrap; }
  .icon[aria-pressed='true'] { color: var(--v-accent); }
  vivace-chat, vivace-metrics { flex: 1; min-height: 0; }
  vivace-chat { padding-bottom: 8px; }
  vivace-metrics { padding: 16px 18px; overflow-y: auto; }
  @media (max-width: 480px) {
    .window { position: fixed; inset: 0; width: 100%; height: 100dvh; border: 0; border-radius: 0; }
    :host([data-open]) .launcher { display: none; }
  }
`;
