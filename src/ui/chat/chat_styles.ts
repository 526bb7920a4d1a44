// The styles of the chat: a scrolling column of turns above a dock with the composer.

import { css } from 'lit';

export const chatStyles = css`
  :host { display: flex; flex-direction: column; min-height: 0; color: var(--v-ink); font: 400 var(--v-size-reading) / 1.5 var(--v-font); }
  /* A page may set the empty conversation and the composer into its middle, as one. */
  .scroller { container: scroller / inline-size; flex: var(--v-scroller-flex, 1); min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-gutter: stable both-edges; outline: none; }
  .column { box-sizing: border-box; max-width: 736px; min-height: 100%; margin: 0 auto; padding: 20px 20px 28px; display: flex; flex-direction: column; }
  .dock { container: dock / inline-size; position: relative; width: 100%; max-width: 736px; margin: 0 auto; padding: 0 20px 4px; }
  vivace-settings:not(:defined) { padding: 17px; } /* comes after the first paint */
  .latest {
    position: absolute; inset-inline-start: 50%; top: -46px; translate: -50% 0; border: 1px solid var(--v-line); border-radius: 50%;
    background: var(--v-surface); box-shadow: 0 4px 14px -6px var(--v-shadow);
  }
  .tuning {
    display: flex; align-items: center; gap: 12px; margin-bottom: 8px; padding: 7px 7px 7px 14px; border-radius: 12px;
    background: var(--v-accent-soft); font-size: var(--v-size); font-variant-numeric: tabular-nums;
  }
  .tuning p { flex: 1; min-width: 0; margin: 0; }
  .tuning .button { flex: none; }
  .health { padding: 9px 14px; }
  .health .offers { display: flex; flex: none; flex-wrap: wrap; gap: 8px; }
  @container dock (width < 560px) {
    .health:has(.offers) { flex-direction: column; align-items: start; gap: 8px; }
  }

  /* On another page a chat may be low. Three examples still lie above its composer. */
  .column:has(> .empty) { padding-block: 8px; }
  .empty { --v-room: 54px; margin: auto 0; text-align: center; }
  h1 { margin: 0 0 10px; font: italic 400 var(--v-size-display) / 1.15 var(--v-serif); letter-spacing: -0.02em; text-wrap: balance; }
  .empty p { max-width: 480px; min-height: 1.5em; margin: 0 auto 10px; color: var(--v-muted); text-wrap: balance; }
  .examples { display: grid; gap: 8px; max-width: 480px; margin: 0 auto; }
  .example {
    padding: 7px 16px; border: 1px solid var(--v-line); border-radius: 12px; background: var(--v-surface); text-align: start;
    cursor: pointer; transition: border-color 120ms;
  }
  .example:hover { border-color: var(--v-accent); }

  .meter { display: inline-flex; align-items: center; gap: 8px; min-width: 0; margin-inline: 8px; color: var(--v-muted); font-size: var(--v-size-small); font-variant-numeric: tabular-nums; white-space: nowrap; }
  .meter span { overflow: hidden; text-overflow: ellipsis; }
  progress { flex: none; width: 56px; height: 4px; appearance: none; border: 0; border-radius: 2px; overflow: hidden; background: var(--v-line); }
  progress::-webkit-progress-bar { background: var(--v-line); }
  progress::-webkit-progress-value { background: var(--v-accent); }
  progress::-moz-progress-bar { background: var(--v-accent); }
  .meter[data-state='nearly-full'] { color: var(--v-danger); }
  .meter[data-state='nearly-full'] progress::-webkit-progress-value { background: var(--v-danger); }
  .meter[data-state='nearly-full'] progress::-moz-progress-bar { background: var(--v-danger); }

  .thinking {
    flex: none; display: flex; align-items: center; gap: 4px; height: 34px; margin-inline-end: 6px; padding: 0 8px; border: 0; border-radius: 17px; background: none;
    color: var(--v-muted); font-size: var(--v-size); cursor: pointer;
  }
  .thinking:hover { background: var(--v-sunken); color: var(--v-ink); }
  .thinking span { padding-inline-end: 4px; }
  .thinking[aria-pressed='true'] { background: var(--v-accent-soft); color: var(--v-accent); }
  @container dock (width < 440px) {
    .thinking span { padding: 0; font-size: 0; }
    .meter:has(~ .thinking) progress { display: none; }
  }
  @container dock (width < 400px) {
    .meter progress { display: none; }
  }

  @media (pointer: coarse) {
    .example { min-height: 44px; }
    vivace-settings:not(:defined) { padding: 22px; }
    .thinking { justify-content: center; min-width: 44px; height: 44px; border-radius: 22px; }
  }

  .memory { display: flex; align-items: center; gap: 12px; margin: 14px 0; color: var(--v-muted); font-size: var(--v-size); text-align: center; }
  .memory::before, .memory::after { content: ''; flex: 1; border-top: 1px solid var(--v-line); }
  .earlier { align-self: center; margin-bottom: 12px; }
  @media (max-width: 480px) {
    .meter { margin-inline: 4px; }
    .meter progress { display: none; }
    .column { padding-inline: 14px; }
    .dock { padding-inline: 10px; }
  }
  :host([shortcuts]) .empty p { margin-bottom: 26px; }
  /* A laptop's window shows the whole first screen, its last link included, while a model loads. */
  @media (min-height: 841px) {
    :host([shortcuts]) .empty { padding: 36px 0 44px; }
    :host([shortcuts]) .example { padding-block: 11px; }
  }
  @media (max-height: 400px) {
    .column { padding-block: 8px; }
    .meter { display: none; }
  }
  @media (forced-colors: active) {
    progress { height: 8px; border: 1px solid; }
    .meter progress::-webkit-progress-value { background: Highlight; forced-color-adjust: none; }
    .thinking[aria-pressed='true'] { border: 2px solid; }
  }
  .attached { margin: 0 0 8px -4px; }
  .attached p { margin: 6px 0 0 4px; color: var(--v-danger); font-size: var(--v-size-small); }
`;
