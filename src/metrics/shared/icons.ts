// The panel's line icons on a 20 px grid, in the color of the text around them: as those of the page, which the panel
// does not import.

import { svg } from 'lit';

function icon(paths: ReturnType<typeof svg>) {
  return svg`<svg viewBox="0 0 20 20" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`;
}

export const icons = {
  enlarge: icon(svg`<path d="M12 3.5h4.5V8M8 16.5H3.5V12M16 4l-5 5M4 16l5-5"/>`),
  close: icon(svg`<path d="m5.5 5.5 9 9m0-9-9 9"/>`),
  pin: icon(svg`<path d="M7.5 3.5h5L12 8.5l2.5 2.5h-9L8 8.5zM10 11v5.5"/>`),
  edit: icon(svg`<path d="m13 4 3 3-8.5 8.5L4 16l.5-3.5z"/>`),
  remove: icon(svg`<path d="M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4M11.5 9v4"/>`),
};
