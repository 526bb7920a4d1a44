// Styles of a question, an answer and the Markdown within.

import { css } from 'lit';

export const turnStyles = css`
  /* Turns out of sight are not laid out. The margin beside them leaves room for focus rings around buttons. */
  :host {
    display: block; margin-inline: -8px; padding: 10px 8px; font: 400 16px / 1.62 var(--v-font); color: var(--v-ink);
    content-visibility: auto; contain-intrinsic-block-size: auto 180px;
  }
  article { overflow-wrap: anywhere; }
  [aria-disabled='true'] { opacity: 0.45; cursor: default; }

  .question { display: flex; flex-direction: column; align-items: flex-end; }
  .question article {
    max-width: min(85%, 544px); padding: 9px 15px; border-radius: 18px; border-end-end-radius: 6px; background: var(--v-sunken);
    white-space: pre-wrap;
  }
  .actions { display: flex; align-items: center; min-height: 30px; margin-top: 2px; }
  .quiet { opacity: 0; transition: opacity 120ms; }
  .question:hover .quiet, .quiet:focus-within { opacity: 1; }
  @media (hover: none) { .quiet { opacity: 1; } }
  .pager { display: inline-flex; align-items: center; margin-inline-end: 2px; color: var(--v-muted); font-size: 12.5px; font-variant-numeric: tabular-nums; }
  .pager .icon { width: 24px; font-size: 17px; line-height: 1; }
  .link { border: 0; background: none; padding: 2px 6px; margin-inline-end: 2px; border-radius: 5px; color: var(--v-accent); cursor: pointer; font-size: 13px; }
  .link:hover { text-decoration: underline; }

  .answer { margin-top: 4px; }
  footer {
    display: flex; flex-wrap: wrap; align-items: center; gap: 0 4px; min-height: 30px; margin-block-start: 6px; margin-inline-start: -6px; color: var(--v-muted);
    font-size: 12.5px; font-variant-numeric: tabular-nums;
  }
  footer .timing span { white-space: nowrap; }
  footer .timing { margin-inline-start: 6px; }
  footer .end { margin-inline-start: 6px; }
  .remark { margin: 0 0 8px; color: var(--v-muted); font-size: 14px; }
  .advice { border-inline-start: 3px solid var(--v-danger); padding: 2px 0; padding-inline-start: 14px; margin: 6px 0; font-size: 15px; line-height: 1.5; }
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
  .reading { margin: 4px 0 0; color: var(--v-muted); font-size: 14px; opacity: 0; animation: appear 200ms 700ms forwards; }
  .reading.at-once { opacity: 1; animation: none; }
  @keyframes appear { to { opacity: 1; } }
  @media (prefers-reduced-motion: reduce) { .reading { opacity: 1; } }
  article[data-state='streaming'] .text > :is(ul, ol, pre, table, hr):last-child::after { display: none; }
  @keyframes beat { from { opacity: 1; } to { opacity: 0.25; } }

  .text > :first-child { margin-top: 0; }
  .text > :last-child { margin-bottom: 0; }
  .text :is(p, ul, ol, pre, table, blockquote) { margin: 0 0 0.85em; }
  .text :is(p, li, h1, h2, h3, h4, h5, h6, td, th) { unicode-bidi: plaintext; }
  .text :is(h1, h2, h3, h4, h5, h6) { margin: 1.3em 0 0.45em; font-weight: 650; line-height: 1.3; letter-spacing: -0.01em; }
  .text h1 { font-size: 1.35em; }
  .text h2 { font-size: 1.2em; }
  .text :is(h3, h4, h5, h6) { font-size: 1.05em; }
  .text :is(ul, ol) { padding-inline-start: 1.4em; }
  .text li { margin: 0.2em 0; }
  .text li::marker { color: var(--v-muted); }
  .text a { color: var(--v-accent); text-underline-offset: 0.15em; }
  .text code { font: 0.88em var(--v-mono); background: var(--v-sunken); padding: 0.12em 0.35em; border-radius: 5px; }
  .text pre { padding: 13px 15px; border-radius: 11px; background: var(--v-sunken); overflow-x: auto; line-height: 1.5; direction: ltr; }
  .text pre code { padding: 0; background: none; }
  .text blockquote { padding-inline-start: 14px; border-inline-start: 3px solid var(--v-line); color: var(--v-muted); }
  .text hr { border: 0; border-top: 1px solid var(--v-line); margin: 1.4em 0; }
  .text table { display: block; width: max-content; max-width: 100%; overflow-x: auto; border-collapse: collapse; font-size: 0.94em; }
  .text :is(td, th) { padding: 6px 12px; border-bottom: 1px solid var(--v-line); text-align: start; }
  .text th { font-weight: 600; }
  .text .image { color: var(--v-muted); font-style: italic; }
  .text .image::before { content: 'Image: '; }
`;
