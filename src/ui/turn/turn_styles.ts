// Styles of a question and its answer.

import { css } from 'lit';

export const turnStyles = css`
  /* Turns out of sight are not laid out. The margin beside them leaves room for focus rings around buttons. */
  :host {
    display: block; margin-inline: -8px; padding: 10px 8px; font: 400 var(--v-size-reading) / 1.62 var(--v-font); color: var(--v-ink);
    content-visibility: auto; contain-intrinsic-block-size: auto 180px;
  }
  article { overflow-wrap: anywhere; }
  [aria-disabled='true'] { opacity: 0.45; cursor: default; }

  .question { display: flex; flex-direction: column; align-items: flex-end; }
  .question article {
    max-width: min(85%, 544px); padding: 9px 15px; border-radius: 18px; border-end-end-radius: 6px; background: var(--v-sunken);
    white-space: pre-wrap;
  }
  .question vivace-files { justify-content: flex-end; margin-bottom: 6px; }
  @media (forced-colors: active) {
    .question article { border: 1px solid; }
  }
  @media (pointer: coarse) {
    .pager .icon { width: 44px; }
    footer button.timing { min-height: 44px; }
  }
  .actions { display: flex; align-items: center; min-height: 30px; margin-top: 2px; }
  .quiet { opacity: 0; transition: opacity 120ms; }
  .question:hover .quiet, .quiet:focus-within { opacity: 1; }
  @media (hover: none) { .quiet { opacity: 1; } }
  .link { border: 0; background: none; padding: 2px 6px; margin-inline-end: 2px; border-radius: 5px; color: var(--v-accent); cursor: pointer; font-size: var(--v-size); }
  .link:hover { text-decoration: underline; }

  .answer { margin-top: 4px; }
  footer {
    display: flex; flex-wrap: wrap; align-items: center; gap: 0 4px; min-height: 30px; margin-block-start: 6px; margin-inline-start: -6px; color: var(--v-muted);
    font-size: var(--v-size-small); font-variant-numeric: tabular-nums;
  }
  footer .timing span { white-space: nowrap; }
  footer .timing { margin-inline-start: 6px; }
  footer :is(.end, .by) { margin-inline-start: 6px; }
  footer .by { max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  button.timing {
    min-height: 28px; padding: 0; border: 0; border-radius: 4px; background: none; color: inherit; font: inherit; text-align: start; cursor: pointer;
  }
  button.timing:hover { color: var(--v-ink); text-decoration: underline; }
  .remark { margin: 0 0 8px; color: var(--v-muted); font-size: var(--v-size); }
  .advice { border-inline-start: 3px solid var(--v-danger); padding: 2px 0; padding-inline-start: 14px; margin: 6px 0; line-height: 1.5; }
  .advice[role='note'] { border-inline-start-color: var(--v-accent); margin-top: 12px; }
  .text:not(:empty) + .advice { margin-top: 16px; }
  .advice p { margin: 0 0 4px; }
  .advice strong { font-weight: 600; }
  .advice .offers { display: flex; flex-wrap: wrap; gap: 8px; margin: 10px 0 2px; }

  .waiting, article[data-state='streaming'] .text > :last-child::after {
    content: ''; display: inline-block; width: 0.5em; height: 1.05em; margin-inline-start: 2px; vertical-align: -0.16em; border-radius: 2px;
    background: var(--v-accent); animation: beat 900ms ease-in-out infinite alternate;
  }
  .waiting { margin: 0; }
  .recovery { margin-top: 8px; color: var(--v-muted); }
  .reading { margin: 4px 0 0; color: var(--v-muted); font-size: var(--v-size); opacity: 0; animation: appear 200ms 700ms forwards; }
  .reading.at-once { opacity: 1; animation: none; }
  @keyframes appear { to { opacity: 1; } }
  @media (prefers-reduced-motion: reduce) { .reading { opacity: 1; } }
  article[data-state='streaming'] .text > :is(ul, ol, pre, table, hr):last-child::after { display: none; }
  @keyframes beat { from { opacity: 1; } to { opacity: 0.25; } }

  .call { margin-block: 0 0.85em; }
  .text:not(:empty) + .call { margin-top: 0.85em; }
  .call p { margin: 0 0 4px; color: var(--v-muted); font-size: var(--v-size); }
  .call pre {
    margin: 0; padding: 11px 15px; border-radius: 11px; background: var(--v-sunken); font: var(--v-size) / 1.5 var(--v-mono); white-space: pre-wrap; direction: ltr;
  }
`;
