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
  fresh: icon(svg`<path d="M9.5 4H5.500A1.5 1.5 0 0 0 4 5.500v9A1.5 1.5 0 0 0 5.5 16h9a1.5 1.5 0 0 0 1.5-1.500v-4"/>
    <path d="m14.7 3.3 2 2L11 11l-2.5.500L9 9z"/>`),
  copy: icon(
    svg`<rect x="7" y="7" width="9" height="9" rx="1.5"/><path d="M13 4.500A1.5 1.5 0 0 0 11.5 4h-6A1.5 1.5 0 0 0 4 5.500v6c0 .6.2 1.2.700 1.5"/>`,
  ),
  done: icon(svg`<path d="m4.5 10.5 3.5 3.5 7.5-8"/>`),
  search: icon(svg`<circle cx="9" cy="9" r="5"/><path d="m12.8 12.8 3.700 3.700"/>`),
  edit: icon(svg`<path d="m13 4 3 3-8.5 8.500L4 16l.5-3.500z"/>`),
  again: icon(svg`<path d="M15.5 8.500A6 6 0 1 0 16 11"/><path d="M16 4.500v4h-4"/>`),
  close: icon(svg`<path d="m5.5 5.5 9 9m0-9-9 9"/>`),
  down: icon(svg`<path d="M10 4.500v11M5.5 11l4.5 4.5 4.5-4.5"/>`),
  more: icon(svg`<path d="M5 10h.01M10 10h.01M15 10h.01" stroke-width="2.2"/>`),
  undo: icon(svg`<path d="M7 5 4 8l3 3"/><path d="M4 8h7.500a4 4 0 0 1 0 8H9"/>`),
  chat: icon(
    svg`<path d="M4 5.500A1.5 1.5 0 0 1 5.5 4h9A1.5 1.5 0 0 1 16 5.500v6.500a1.5 1.5 0 0 1-1.5 1.500H9L5.5 16.500v-3A1.5 1.5 0 0 1 4 12z"/>`,
  ),
  think: icon(
    svg`<path d="M7.5 14.500C7.500 12.500 5 11.500 5 8a5 5 0 0 1 10 0c0 3.500-2.500 4.500-2.500 6.500z"/><path d="M8.200 17.200h3.600"/>`,
  ),
  clip: icon(
    svg`<path d="m15.5 9.5-5.700 5.700a3.300 3.300 0 0 1-4.700-4.700l6-6a2.200 2.200 0 0 1 3.100 3.100l-5.900 5.900a1.100 1.100 0 0 1-1.600-1.600l5.300-5.300"/>`,
  ),
  chart: icon(svg`<path d="M3.5 16.500h13M5 13V9.500M8.5 13V5M12 13V8M15.5 13V10.5"/>`),
};
