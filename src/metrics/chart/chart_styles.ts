// Styles of the chart, its tabs and its readout. They use the variables of the panel around it.

import { css } from 'lit';

export const chartStyles = css`
  :host { display: block; }
  .top { display: flex; align-items: end; gap: 2px; margin-bottom: 8px; border-bottom: 1px solid var(--line); }
  [role='tablist'] { display: flex; gap: 2px; }
  .tools { display: flex; gap: 2px; margin-inline-start: auto; }
  .tool {
    min-width: 26px; min-height: 26px; padding: 3px 5px; border: 0; border-radius: 6px; background: none; color: var(--muted);
    font: inherit; font-size: var(--small); line-height: 1; cursor: pointer;
  }
  .tool:hover { background: var(--line); color: var(--ink); }
  .tool svg { display: block; margin: auto; }
  .sign { font-size: var(--reading); }
  [role='tab'] {
    padding: 4px 8px 5px; border: 0; border-bottom: 2px solid transparent; margin-bottom: -1px; background: none; color: var(--muted);
    font: inherit; font-size: var(--small); white-space: nowrap; cursor: pointer;
  }
  @media (max-width: 420px) {
    [role='tab'] { padding-inline: 5px; }
    .tools, [role='tablist'] { gap: 0; }
  }
  [role='tab']:hover { color: var(--ink); }
  [role='tab'][aria-selected='true'] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
  @media (pointer: coarse) {
    [role='tab'], li button { min-height: 44px; }
  }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  .chart { position: relative; }
  .plot { height: 216px; border-radius: 4px; }
  .empty {
    position: absolute; inset: 40px 44px 40px 52px; display: grid; place-content: center; margin: 0; text-align: center;
    color: var(--muted); pointer-events: none; text-wrap: balance;
  }
  .idle { opacity: 0.25; }
  .brush { position: absolute; top: 0; bottom: 0; background: color-mix(in srgb, var(--accent) 16%, transparent); pointer-events: none; }
  .brush[hidden] { display: none; }
  /* The elements of uPlot. Its own style sheet is mostly for the legend and the cursor, which the chart replaces. */
  .uplot, .uplot * { box-sizing: border-box; }
  .uplot { width: min-content; }
  .u-wrap { position: relative; user-select: none; }
  .u-over, .u-under, .u-axis, .u-select { position: absolute; }
  .u-under { overflow: hidden; }
  .uplot canvas { display: block; position: relative; width: 100%; height: 100%; }
  .u-over { cursor: crosshair; touch-action: pan-y; }
  .dot { position: absolute; top: 0; bottom: 0; left: -0.5px; width: 0; border-left: 1px solid var(--muted); pointer-events: none; }
  .dot[hidden] { display: none; }
  .dot::after {
    content: ''; position: absolute; top: calc(var(--y) - 4px); left: -4.5px; width: 8px; height: 8px; border-radius: 50%; background: var(--ink);
  }

  .range { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 10px; color: var(--muted); font-size: var(--small); }
  .range b { font-weight: 600; }
  .range .faint, .range .faint b { color: var(--muted); font-weight: 400; }
  .range .tool { margin-inline: auto -5px; color: var(--accent); }
  .legend { display: flex; flex-wrap: wrap; gap: 1px 12px; max-height: none; margin: 2px 0 4px; padding: 0; list-style: none; color: var(--muted); font-size: var(--small); overflow: visible; }
  .legend li { display: flex; align-items: center; gap: 5px; }
  .key.accent { color: var(--accent); }
  .key.ink { color: var(--ink); }
  .key.danger { color: var(--danger); }
  .key.remote { color: var(--remote); }
  .key.a { color: var(--pin-a); }
  .key.b { color: var(--pin-b); }
  .key.c { color: var(--pin-c); }

  /* As high as a full readout, so that the figures below do not jump. */
  .readout { min-height: 72px; padding-top: 2px; color: var(--muted); font-size: var(--small); text-wrap: pretty; }
  .readout:empty { min-height: 12px; }
  p { margin: 0; }
  .line { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  b { color: var(--ink); font-weight: 600; }
  code { font: var(--small) var(--v-mono, ui-monospace, monospace); white-space: pre; unicode-bidi: isolate; }
  .stages { display: grid; grid-template-columns: repeat(5, auto); justify-content: space-between; gap: 6px; margin: 2px 0; }
  .stages dt { font-size: var(--small); cursor: help; white-space: nowrap; }
  .stages dd { margin: 0; color: var(--ink); white-space: nowrap; }
  .stalled { color: var(--danger); white-space: normal; }
  .stalls { padding: 6px 0 10px; font-size: var(--small); }
  h3 { margin: 0 0 3px; font-size: var(--small); font-weight: 600; }
  ul { max-height: 132px; margin: 0; padding-inline-start: 16px; overflow: auto; }
  li button { padding: 0; border: 0; background: none; color: inherit; font: inherit; cursor: pointer; }
  li button:hover { text-decoration: underline; }
  li::marker { color: var(--danger); }
  .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

  .probe { position: absolute; visibility: hidden; }
  .probe.muted { color: var(--muted); }
  .probe.line { color: var(--line); }
  .probe.accent { color: var(--accent); }
  .probe.fill { color: color-mix(in srgb, var(--accent) 12%, transparent); }
  .probe.danger { color: var(--danger); }
  .probe.remote { color: var(--remote); }
  .probe.a { color: var(--pin-a); }
  .probe.b { color: var(--pin-b); }
  .probe.c { color: var(--pin-c); }

  dialog {
    box-sizing: border-box; display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) minmax(240px, 340px); gap: 0 24px;
    width: 100vw; max-width: none; height: 100vh; height: 100dvh; max-height: none; margin: 0; padding: 16px 20px; border: 0;
    background: var(--surface); color: var(--ink); overscroll-behavior: contain;
  }
  dialog .top { grid-column: 1 / -1; gap: 16px; margin-bottom: 12px; }
  dialog h2 { margin: 0 0 6px; font-size: var(--reading); font-weight: 600; white-space: nowrap; }
  dialog .tool { min-width: 32px; min-height: 32px; }
  dialog .chart { min-height: 0; }
  dialog .plot { height: 100%; font-size: var(--size); }
  dialog .beside { min-height: 0; overflow-y: auto; }
  dialog .beside > * { margin-bottom: 12px; }
  dialog :is(.legend, .range) { flex-direction: column; align-items: start; gap: 3px; }
  dialog .range .tool { margin-inline: -5px; }
  dialog .stages { grid-template-columns: auto; gap: 2px; }
  dialog .stages > div { display: grid; grid-template-columns: 6em auto; justify-content: start; }
  dialog .line { white-space: normal; }
  dialog .stalls ul { max-height: none; }
  dialog .u-over { touch-action: none; }
  .help { color: var(--muted); font-size: var(--small); text-wrap: pretty; }
  @media (max-width: 760px) {
    dialog { grid-template: auto minmax(200px, 1fr) minmax(0, 40%) / minmax(0, 1fr); padding: 10px 12px; }
    dialog .top { flex-wrap: wrap; gap: 4px 8px; }
    dialog h2 { flex: 1 0 60%; }
    .help { display: none; }
  }
  @media (pointer: coarse) { .tool, [role='tab'] { min-width: 44px; min-height: 44px; } }

  @media (forced-colors: active) {
    [role='tab'][aria-selected='false'] { border-color: Canvas; }
    .dot::after, .probe { forced-color-adjust: none; }
  }
`;
