// Styles of formulas and footnotes in an answer. The fonts of formulas are the system's.

import { css } from 'lit';

export const mathStyles = css`
  .math { position: relative; max-width: 100%; }
  .math math {
    font-family:
      'STIX Two Math', 'Cambria Math', 'Latin Modern Math', 'Noto Sans Math', 'DejaVu Math TeX Gyre', math, 'Times New Roman', 'Liberation Serif',
      'DejaVu Serif', serif;
    user-select: none; -webkit-user-select: none;
  }
  .math-display { display: block; margin: 0.4em 0; padding: 0.2em 0; overflow: auto hidden; }
  .text .math > .math-source {
    position: absolute; inset-inline-start: 0; width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
  }
  .math .tml-left { text-align: left; }
  .math .tml-right { text-align: right; }
  .math .tml-jot > mtr > mtd { padding-block: 0.35em; }
  .math .tml-cancel { text-decoration: line-through; }

  .note, .note-back {
    padding: 0 3px; border: 0; border-radius: 4px; background: none; color: var(--v-accent); font: inherit; cursor: pointer;
  }
  .note { font-size: 0.75em; vertical-align: super; line-height: 1; }
  .note::before { content: '['; }
  .note::after { content: ']'; }
  .note-back { margin-inline-end: 4px; color: var(--v-muted); }
`;
