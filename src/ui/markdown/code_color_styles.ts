// Colors of code in both themes. Each has a contrast of 4.5 or more on the ground of code
// (test/ui/markdown/code_colors.test.ts). With forced colors the system's color of text takes their place.

import { css } from 'lit';

export const codeColorStyles = css`
  .code-keyword { color: light-dark(#8c2a6e, #e59ac6); }
  .code-string { color: light-dark(#2c6327, #a5cf8e); }
  .code-comment { color: light-dark(#665f52, #a8a194); font-style: italic; }
  .code-number { color: light-dark(#8f4400, #ecb27a); }
  .code-name { color: light-dark(#1b5597, #93c0f2); }
  .code-property { color: light-dark(#6d4f00, #d9c27c); }
  .code-inserted { color: light-dark(#2c6327, #a5cf8e); }
  .code-deleted { color: light-dark(#9c2c1b, #f0907d); }
`;
