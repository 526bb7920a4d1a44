// The styles of both sections, on the CSS variables of the panel.

import { css } from 'lit';

export const tuneStyles = css`
  :host { display: block; }
  section { border-top: 1px solid var(--line); padding: 11px 0 12px; }
  h3 { margin: 0 0 5px; font-size: var(--small); font-weight: 600; }
  h4 { margin: 14px 0 3px; font-size: var(--small); font-weight: 600; }
  dl { display: grid; row-gap: 2px; margin: 0; }
  dl > div { display: flex; justify-content: space-between; gap: 8px; min-width: 0; }
  dt { color: var(--muted); cursor: help; }
  dd { margin: 0; min-width: 0; text-align: end; overflow-wrap: anywhere; }
  .note, .outcome { margin: 6px 0 0; font-size: var(--small); overflow-wrap: anywhere; text-wrap: pretty; }
  .note { color: var(--muted); }
  .outcome.failed { border-inline-start: 3px solid var(--v-danger, var(--accent)); padding-inline-start: 10px; }
  .outcome:empty { display: none; }

  .start { display: flex; flex-wrap: wrap; gap: 0 6px; margin-top: 9px; }
  .start .note { flex: 1 0 100%; }
  .tune {
    padding: 4px 10px; border: 1px solid var(--line); border-radius: 8px; background: none; color: var(--ink); font: inherit;
    font-size: var(--small); cursor: pointer;
  }
  @media (pointer: coarse) {
    .tune { min-height: 44px; }
  }
  .tune:hover:not(:disabled) { border-color: color-mix(in srgb, var(--ink) 30%, var(--line)); }
  .tune:disabled { opacity: 0.45; cursor: default; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  .row { display: flex; align-items: center; gap: 10px; margin-top: 9px; }
  .count { min-width: 5.5em; color: var(--muted); font-size: var(--small); text-align: end; white-space: nowrap; }
  progress { flex: 1; min-width: 40px; height: 5px; appearance: none; border: 0; border-radius: 3px; overflow: hidden; background: var(--line); }
  progress::-webkit-progress-bar { background: var(--line); }
  progress::-webkit-progress-value { background: var(--accent); }
  progress::-moz-progress-bar { background: var(--accent); }
  @media (forced-colors: active) { progress { forced-color-adjust: none; } }
  /* Two lines: names of different length must not make the panel jump. */
  .last { min-height: 2.9em; }

  .scroll { margin-top: 5px; overflow-x: auto; }
  table { width: 100%; border-collapse: collapse; font-size: var(--small); line-height: 1.35; }
  :is(th, td) { padding: 3px 0 3px 5px; text-align: end; font-weight: 400; white-space: nowrap; vertical-align: baseline; }
  :is(th, td):first-child { padding-inline-start: 4px; text-align: start; }
  :is(th, td):last-child { padding-inline-end: 4px; }
  thead th { color: var(--muted); font-size: var(--small); white-space: normal; vertical-align: bottom; }
  tbody tr:not(.why) > * { border-top: 1px solid var(--line); }
  .text { text-align: start; white-space: normal; }
  .refused { color: var(--muted); }
  .why td { padding-top: 0; color: var(--muted); font-size: var(--small); text-align: start; white-space: normal; overflow-wrap: anywhere; }
  .between td { padding-top: 8px; color: var(--muted); font-size: var(--small); text-align: start; }
  .winner > * { background: color-mix(in srgb, var(--accent) 12%, transparent); font-weight: 600; }
  .winner .text { font-weight: 400; }
  .mark {
    display: inline-block; width: 9px; height: 4px; margin: 0 3px 3px 6px; border: solid var(--accent); border-width: 0 0 2px 2px;
    rotate: -48deg;
  }

  details { border-top: 1px solid var(--line); font-size: var(--small); }
  details[open] { padding-bottom: 8px; }
  summary { display: flex; align-items: baseline; gap: 8px; padding: 4px 4px; cursor: pointer; list-style: none; }
  summary::-webkit-details-marker { display: none; }
  summary::before {
    content: ''; flex: none; width: 5px; height: 5px; border: solid var(--muted); border-width: 0 1.5px 1.5px 0; rotate: -45deg; translate: 0 -1px;
  }
  details[open] > summary::before { rotate: 45deg; translate: 0 -2px; }
  summary:hover { background: color-mix(in srgb, var(--line) 50%, transparent); }
  .keys { min-width: 6.2em; color: var(--muted); text-align: end; white-space: nowrap; }
  .name { flex: 1; min-width: 0; }
  .product { flex: 1; min-width: 0; color: var(--muted); }
  .ms { text-align: end; white-space: nowrap; }
  .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
