// Styles of the section with repeated measurements, on the CSS variables of the panel.

import { css } from 'lit';

export const repeatStyles = css`
  :host { display: block; }
  section { border-top: 1px solid var(--line); padding: 11px 0 12px; }
  h3 { margin: 0 0 5px; font-size: var(--small); font-weight: 600; }
  .start { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 8px; }
  button, select {
    padding: 4px 10px; border: 1px solid var(--line); border-radius: 8px; background: none; color: var(--ink); font: inherit;
    font-size: var(--small); cursor: pointer;
  }
  select { padding-inline: 6px; background: var(--surface); }
  label { color: var(--muted); }
  button:hover:not(:disabled) { border-color: color-mix(in srgb, var(--ink) 30%, var(--line)); }
  :is(button, select):disabled { opacity: 0.45; cursor: default; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  .row { display: flex; align-items: center; gap: 10px; }
  .count { color: var(--muted); white-space: nowrap; }
  progress { flex: 1; min-width: 40px; height: 5px; appearance: none; border: 0; border-radius: 3px; overflow: hidden; background: var(--line); }
  progress::-webkit-progress-bar { background: var(--line); }
  progress::-webkit-progress-value { background: var(--accent); }
  progress::-moz-progress-bar { background: var(--accent); }
  .note, .outcome { margin: 6px 0 0; color: var(--muted); text-wrap: pretty; overflow-wrap: anywhere; }
  .outcome:empty { display: none; }
  .outcome.failed { border-inline-start: 3px solid var(--danger); padding-inline-start: 10px; color: var(--ink); }
  .series { margin: 8px 0 4px; padding: 0; list-style: none; color: var(--muted); overflow-wrap: anywhere; }
  .series b { color: var(--ink); font-weight: 600; }
  table { width: 100%; border-collapse: collapse; line-height: 1.35; }
  :is(th, td) { padding: 1px 0 1px 10px; font-weight: 400; text-align: end; vertical-align: baseline; white-space: nowrap; color: var(--muted); }
  th { padding-inline-start: 0; text-align: start; }
  tbody tr:first-child th { padding-top: 4px; border-top: 1px solid var(--line); color: var(--ink); font-weight: 600; cursor: help; }
  tbody tr:last-child > * { padding-bottom: 4px; }
  .median { color: var(--ink); }
  .verdict { width: 40%; white-space: normal; text-wrap: balance; }
  td.better { color: var(--accent); font-weight: 600; }
  td.worse { color: var(--danger); font-weight: 600; }
  @media (pointer: coarse) {
    button, select { min-height: 44px; }
    select { font-size: var(--v-size-reading, 16px); } /* a phone would zoom into smaller letters */
  }
  @media (forced-colors: active) { progress { forced-color-adjust: none; } }
`;
