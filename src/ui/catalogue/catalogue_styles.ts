// The styles of the cards: a grid of two columns, one on a phone; the recommended card stands out and spans both.

import { css } from 'lit';

export const listStyles = css`
  :host { display: block; container: list / inline-size; }
  .cards { display: grid; grid-template-columns: 1fr; gap: 10px; }
  @container list (width >= 520px) {
    .cards { grid-template-columns: 1fr 1fr; }
    [recommended] { grid-column: 1 / -1; }
  }
  .complaint { margin: 0 0 12px; color: var(--v-danger); font-size: var(--v-size); overflow-wrap: anywhere; }
  .measure { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin: 12px 0 0; color: var(--v-muted); font-size: var(--v-size-small); }
  .measure span { flex: 1 1 14rem; }
  .measure .button { color: var(--v-ink); }
`;

export const cardStyles = css`
  :host { display: block; }
  article {
    display: flex; flex-direction: column; gap: 4px; height: 100%; padding: 14px 16px; border: 1px solid var(--v-line); border-radius: 12px;
    background: var(--v-surface); font: 400 var(--v-size) / 1.45 var(--v-font); color: var(--v-ink);
  }
  :host([recommended]) article { border-color: var(--v-accent); background: var(--v-accent-soft); }
  h3, p { margin: 0; }
  h3 { font-size: var(--v-size-reading); font-weight: 600; line-height: 1.3; }
  .badge { color: var(--v-accent); font-size: var(--v-size-small); font-weight: 600; }
  .about { margin-bottom: 2px; }
  .facts { color: var(--v-muted); font-size: var(--v-size-small); font-variant-numeric: tabular-nums; }
  .facts > :not(:last-child)::after { content: '\\a0· '; }
  a { color: inherit; text-decoration: underline; text-underline-offset: 2px; text-decoration-color: var(--v-line); }
  a:hover { color: var(--v-ink); text-decoration-color: currentColor; }
  .do { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 10px; margin-top: auto; padding-top: 10px; }
  .state { color: var(--v-muted); font-size: var(--v-size-small); font-variant-numeric: tabular-nums; }
  .state[data-testid='running'] {
    padding: 1px 8px; border-radius: 99px; background: var(--v-accent-soft); color: var(--v-accent); font-weight: 600;
  }
  vivace-delete-model { margin-inline-start: auto; }
  @media (pointer: coarse) {
    .button { min-height: 44px; }
    .facts a { padding-block: 12px; margin-block: -12px; }
  }
  @media (forced-colors: active) {
    :host([recommended]) article { border-width: 2px; }
  }
`;
