// Styles of the panel. They use the page's theme variables where defined, and system colors elsewhere.

import { css } from 'lit';

export const panelStyles = css`
  :host {
    --ink: var(--v-ink, CanvasText);
    --muted: var(--v-muted, GrayText);
    --line: var(--v-line, color-mix(in srgb, CanvasText 14%, transparent));
    --surface: var(--v-surface, Canvas);
    --accent: var(--v-accent, LinkText);
    --small: var(--v-size-small, 12px);
    --size: var(--v-size, 14px);
    --reading: var(--v-size-reading, 16px);
    --display: var(--v-size-display, 32px);
    --danger: var(--v-danger, light-dark(#a8321f, #f0907d));
    --remote: light-dark(#a3256f, #f08cc4);
    --pin-a: light-dark(#a8500a, #f2a65e);
    --pin-b: light-dark(#6544b8, #b9a3f5);
    --pin-c: light-dark(#1d5fae, #82b8f6);
    display: block;
    color: var(--ink);
    font: 400 var(--small) / 1.45 var(--v-font, system-ui, sans-serif);
    font-variant-numeric: tabular-nums;
  }
  @media (forced-colors: active) {
    :host {
      --ink: CanvasText; --muted: CanvasText; --line: GrayText; --accent: LinkText; --danger: CanvasText;
      --remote: VisitedText; --pin-a: CanvasText; --pin-b: GrayText; --pin-c: VisitedText;
    }
    .live, .bar, .bar i { forced-color-adjust: none; }
    button[aria-pressed='true'] { text-decoration: underline; }
  }
  :host([hidden]) { display: none; }
  header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 6px; margin-bottom: 10px; }
  h2 { margin: 0; white-space: nowrap; font-size: var(--size); font-weight: 600; letter-spacing: -0.005em; }
  .live { align-self: center; width: 8px; height: 8px; border-radius: 50%; background: var(--accent); }
  /* Blinks with the figures: an animation would make the browser compose every frame. */
  .live.odd { opacity: 0.35; }
  @media (prefers-reduced-motion: reduce) { .live { opacity: 1; } }
  .tools { margin-inline-start: auto; display: flex; gap: 1px; margin-inline-end: -5px; }
  button {
    font: inherit; font-size: var(--small); color: var(--muted); background: none; border: 0; border-radius: 6px;
    padding: 3px 5px; cursor: pointer;
  }
  button:hover:not(:disabled) { color: var(--ink); background: var(--line); }
  button[aria-pressed='true'] { color: var(--accent); }
  button:disabled { opacity: 0.45; cursor: default; }
  @media (pointer: coarse) {
    header { align-items: center; }
    button { min-width: 44px; min-height: 44px; padding-inline: 8px; }
  }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }

  .invitation { margin: 0 0 20px; color: var(--muted); font-size: var(--size); text-wrap: pretty; }
  vivace-chart[hidden], vivace-repeat[hidden], vivace-tune[hidden], vivace-roofline[hidden] { display: none; }

  .opened {
    display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px; margin: 0 0 10px; padding: 4px 8px;
    border-radius: 6px; background: color-mix(in srgb, var(--accent) 12%, transparent);
  }
  .opened button { margin-inline: -6px; color: var(--accent); }
  .legend .name { color: var(--ink); font-weight: 500; }
  .tiles { display: grid; grid-template-columns: repeat(4, 1fr); margin: 0; }
  @media (max-width: 360px) { .tiles { grid-template-columns: repeat(4, auto); } .tiles > div, .tiles > div + div { padding-inline-start: 5px; } }
  .tiles + .note { margin: 2px 0 0; min-height: 1lh; }
  .tiles > div { padding-inline-start: 10px; border-inline-start: 1px solid var(--line); }
  .tiles > div:first-child { padding-inline-start: 0; border: 0; }
  .tiles dt { color: var(--muted); }
  .tiles dd small { font-size: var(--small); font-weight: 400; letter-spacing: 0; color: var(--muted); }
  .tiles dd { margin: 0; font-size: var(--reading); font-weight: 600; letter-spacing: -0.02em; white-space: nowrap; }

  .faint dd { color: var(--muted); font-weight: 400; }

  vivace-chart { margin: 12px 0 6px; }
  vivace-roofline { margin-bottom: 12px; }
  section { border-top: 1px solid var(--line); padding: 11px 0 12px; }
  h3 { margin: 0 0 5px; font-size: var(--small); font-weight: 600; }
  dl.grid { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 20px; row-gap: 2px; margin: 0; }
  dl.grid > div { display: flex; justify-content: space-between; gap: 8px; min-width: 0; }
  dl.grid > div.wide { grid-column: 1 / -1; }
  dl.grid dt { min-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--muted); white-space: nowrap; cursor: help; }
  dl.grid dd { flex: none; margin: 0; max-width: 100%; text-align: end; white-space: nowrap; }
  dl.grid .wide dt { flex: none; }
  dl.grid .wide dd { flex: 0 1 auto; min-width: 0; white-space: normal; overflow-wrap: anywhere; }
  .note { margin: 6px 0 0; color: var(--muted); text-wrap: pretty; }
  ul { margin: 0; padding-inline-start: 16px; }

  .bar { display: flex; height: 6px; margin: 2px 0 8px; border-radius: 3px; overflow: hidden; background: var(--line); }
  .bar i { display: block; flex: 0 0 0; background: var(--accent); }
  .bar i:nth-child(2) { opacity: 0.6; }
  .bar i:nth-child(3) { opacity: 0.3; }

  .legend { display: grid; grid-template-columns: auto auto 1fr auto; gap: 0 6px; padding: 0; margin: 0 0 6px; list-style: none; }
  .legend li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: baseline; }
  .legend .what:last-child { grid-column: 3 / -1; }
  .legend .what { min-width: 0; color: var(--muted); overflow-wrap: anywhere; }
  .legend button { margin-inline-end: -5px; }
  .swatch { flex: none; align-self: start; margin-top: 5px; }
  .now { color: var(--accent); }
  .a { color: var(--pin-a); }
  .b { color: var(--pin-b); }
  .c { color: var(--pin-c); }
  .scroll { overflow-x: auto; }
  table { width: 100%; table-layout: fixed; border-collapse: collapse; font-size: var(--small); line-height: 1.35; }
  :is(th, td) { padding: 3px 0 3px 8px; text-align: end; font-weight: 400; white-space: nowrap; vertical-align: baseline; }
  tbody tr > * { border-top: 1px solid var(--line); }
  tbody th { padding-inline-start: 0; color: var(--muted); text-align: start; cursor: help; }
  thead th { font-weight: 600; }
  td.faint { color: var(--muted); }
  td small { display: block; color: var(--muted); font-size: var(--small); }
  /* Columns of equal width, whose texts wrap: all of four runs are in sight. */
  thead td { width: 5.6em; }
  td { white-space: normal; overflow-wrap: anywhere; }
  td .caveat { text-wrap: balance; }
  td .better { color: var(--accent); }
  td .worse { color: var(--danger); }
`;
