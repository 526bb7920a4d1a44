// Line icons on a 20 px grid, in the color of the text around them.

import { svg } from 'lit';

function icon(paths: ReturnType<typeof svg>) {
  return svg`<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.5"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`;
}

export const icons = {
  send: icon(svg`<path d="M10 15.5v-11M5.5 9 10 4.5 14.5 9" stroke-width="1.8"/>`),
  stop: icon(svg`<rect x="6" y="6" width="8" height="8" rx="1.5" fill="currentColor" stroke="none"/>`),
  settings: icon(
    svg`<path d="M3 6h8M15 6h2M3 14h2M9 14h8"/><circle cx="13" cy="6" r="2"/><circle cx="7" cy="14" r="2"/>`,
  ),
  fresh: icon(svg`<path d="M9.5 4H5.5A1.5 1.5 0 0 0 4 5.5v9A1.5 1.5 0 0 0 5.5 16h9a1.5 1.5 0 0 0 1.5-1.5v-4"/>
    <path d="m14.7 3.3 2 2L11 11l-2.5.500L9 9z"/>`),
  copy: icon(
    svg`<rect x="7" y="7" width="9" height="9" rx="1.5"/><path d="M13 4.5A1.5 1.5 0 0 0 11.5 4h-6A1.5 1.5 0 0 0 4 5.5v6c0 .6.2 1.2.7 1.5"/>`,
  ),
  done: icon(svg`<path d="m4.5 10.5 3.5 3.5 7.5-8"/>`),
  search: icon(svg`<circle cx="9" cy="9" r="5"/><path d="m12.8 12.8 3.7 3.7"/>`),
  edit: icon(svg`<path d="m13 4 3 3-8.5 8.5L4 16l.5-3.5z"/>`),
  again: icon(svg`<path d="M15.5 8.5A6 6 0 1 0 16 11"/><path d="M16 4.5v4h-4"/>`),
  close: icon(svg`<path d="m5.5 5.5 9 9m0-9-9 9"/>`),
  down: icon(svg`<path d="M10 4.5v11M5.5 11l4.5 4.5 4.5-4.5"/>`),
  more: icon(svg`<path d="M5 10h.01M10 10h.01M15 10h.01" stroke-width="2.2"/>`),
  undo: icon(svg`<path d="M7 5 4 8l3 3"/><path d="M4 8h7.5a4 4 0 0 1 0 8H9"/>`),
  chat: icon(
    svg`<path d="M4 5.5A1.5 1.5 0 0 1 5.5 4h9A1.5 1.5 0 0 1 16 5.5v6.5a1.5 1.5 0 0 1-1.5 1.5H9L5.5 16.5v-3A1.5 1.5 0 0 1 4 12z"/>`,
  ),
  think: icon(
    svg`<path d="M7.5 14.5C7.5 12.5 5 11.5 5 8a5 5 0 0 1 10 0c0 3.5-2.5 4.5-2.5 6.5z"/><path d="M8.2 17.2h3.6"/>`,
  ),
  clip: icon(
    svg`<path d="m15.5 9.5-5.7 5.7a3.3 3.3 0 0 1-4.7-4.7l6-6a2.2 2.2 0 0 1 3.1 3.1l-5.9 5.9a1.1 1.1 0 0 1-1.6-1.6l5.3-5.3"/>`,
  ),
  chart: icon(svg`<path d="M3.5 16.5h13M5 13V9.5M8.5 13V5M12 13V8M15.5 13V10.5"/>`),
};
