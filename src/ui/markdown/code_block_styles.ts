// Styles that keep code with its bar, wide tables and any text in their place inside an answer.

import { css } from 'lit';
import { codeColorStyles } from './code_color_styles';
import { mathStyles } from './math_styles';

export const codeBlockStyles = css`
  ${codeColorStyles}
  .code-block { margin: 0 0 0.85em; border-radius: 11px; background: var(--v-sunken); direction: ltr; }
  .code-bar {
    display: flex; align-items: center; min-height: 34px; padding: 0 6px 0 15px; border-bottom: 1px solid var(--v-line);
    color: var(--v-muted); font: 400 var(--v-size-small) / 1.2 var(--v-font); user-select: none; -webkit-user-select: none;
  }
  .code-bar::before { content: attr(data-language); overflow: hidden; text-overflow: ellipsis; }
  .code-copy {
    margin-inline-start: auto; padding: 4px 9px; border: 0; border-radius: 7px; background: none; color: inherit; font: inherit; cursor: pointer;
  }
  .code-copy::before { content: attr(data-label); }
  .code-copy[data-copied]::before { content: attr(data-done); }
  .code-copy:hover { background: var(--v-line); color: var(--v-ink); }
  .text .code-block pre { margin: 0; border-radius: 0 0 11px 11px; background: none; }
  .text .code-block:last-child { margin-bottom: 0; }
  .code-block pre:focus-visible, .table-box:focus-visible { outline-offset: -2px; }

  .table-box { max-width: 100%; margin: 0 0 0.85em; overflow-x: auto; }
  .text .table-box table { display: table; max-width: none; margin: 0; overflow: visible; }
  article[data-state='streaming'] .text > :is(.code-block, .table-box):last-child::after { display: none; }
  .text .align-left { text-align: left; }
  .text .align-center { text-align: center; }
  .text .align-right { text-align: right; font-variant-numeric: tabular-nums; }

  ${mathStyles}

  .text li:has(> input) { list-style: none; margin-inline-start: -1.4em; }
  .run { display: block; }
  :is(p, li) > .run { content-visibility: auto; contain-intrinsic-block-size: auto 400px; } /* code scrolls sideways, which this would clip */
  .text a:not([href]) { color: inherit; text-decoration: none; }
  .run, .plain { unicode-bidi: plaintext; }
  .plain { white-space: pre-wrap; }
  .text code { direction: ltr; unicode-bidi: isolate; } /* in Arabic, too: f() and not ()f */
  .text { overflow: clip; overflow-clip-margin: 6px; } /* so that letters with towers of marks cover no button */
`;
