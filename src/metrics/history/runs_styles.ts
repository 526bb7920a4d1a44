// Styles of the list of runs. They use the panel's colors.

import { css } from 'lit';

export const runsStyles = css`
  :host { display: block; }
  section { border-top: 1px solid var(--line); padding: 11px 0 12px; }
  header, footer, li { display: flex; align-items: center; gap: 4px; }
  footer { flex-wrap: wrap; margin-inline: -6px; }
  header button { margin-inline-end: -6px; }
  header { justify-content: space-between; }
  h3 { margin: 0; font-size: var(--small); font-weight: 600; }
  ul { margin: 4px -8px; padding: 0; list-style: none; }
  li { border-radius: 6px; }
  li.shown { background: color-mix(in srgb, var(--accent) 12%, transparent); }
  li.shown .open { border-inline-start-color: var(--accent); }
  button {
    min-height: 28px; padding: 3px 6px; border: 0; border-radius: 6px; background: none; color: var(--muted); font: inherit;
    font-size: var(--small); cursor: pointer;
  }
  button:hover { background: var(--line); color: var(--ink); }
  button[aria-pressed='true'] { color: var(--accent); font-weight: 600; }
  .open { flex: 1; min-width: 0; border-inline-start: 2px solid transparent; border-radius: 6px; text-align: start; }
  .open b { display: block; overflow: hidden; color: var(--ink); font-weight: 500; text-overflow: ellipsis; white-space: nowrap; }
  .open small { display: block; font-size: var(--small); line-height: 1.4; }
  .open small span { display: inline-block; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; white-space: nowrap; }
  .open .figures { color: var(--ink); font-variant-numeric: tabular-nums; }
  .actions { display: flex; }
  .actions button { display: grid; place-items: center; min-width: 28px; }
  .rename {
    flex: 1; min-width: 0; margin: 4px 0; padding: 4px 6px; border: 1px solid var(--line); border-radius: 6px; background: var(--surface);
    color: var(--ink); font: inherit;
  }
  .note { margin: 4px 0 0; color: var(--muted); font-size: var(--small); text-wrap: pretty; }
  .note:empty { display: none; }
  .said { display: flex; align-items: baseline; gap: 6px; }
  .said .note { color: var(--ink); }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  @media (pointer: coarse) { button, .actions button, .rename { min-height: 44px; min-width: 44px; } .rename { font-size: var(--reading); } }
  @media (forced-colors: active) { li.shown .open { border-inline-start-color: Highlight; } }
`;
