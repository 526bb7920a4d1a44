// Styles of the Markdown in an answer or its thinking.

import { css } from 'lit';

export const textStyles = css`
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
  .text code { font: 0.875em var(--v-mono); background: var(--v-sunken); padding: 0.12em 0.35em; border-radius: 5px; }
  .text pre { padding: 13px 15px; border-radius: 11px; background: var(--v-sunken); overflow-x: auto; line-height: 1.5; direction: ltr; }
  .text pre code { padding: 0; background: none; }
  .text blockquote { padding-inline-start: 14px; border-inline-start: 3px solid var(--v-line); color: var(--v-muted); }
  .text hr { border: 0; border-top: 1px solid var(--v-line); margin: 1.4em 0; }
  .text table { display: block; width: max-content; max-width: 100%; overflow-x: auto; border-collapse: collapse; }
  .text :is(td, th) { padding: 6px 12px; border-bottom: 1px solid var(--v-line); text-align: start; }
  .text th { font-weight: 600; }
  .text .image { color: var(--v-muted); font-style: italic; }
  .text .image::before { content: 'Image: '; }
`;
