// Styles of the folded thinking: one quiet line, and below it text that steps back behind the answer.

import { css } from 'lit';

export const thoughtStyles = css`
  :host { display: block; margin-block-end: 4px; }
  summary {
    display: inline-flex; align-items: center; gap: 6px; max-width: 100%; min-height: 30px; margin-inline-start: -6px; padding: 2px 8px 2px 6px;
    border-radius: 8px; color: var(--v-muted); font-size: var(--v-size); line-height: 1.4; list-style: none; cursor: pointer; user-select: none; -webkit-user-select: none;
  }
  summary::-webkit-details-marker { display: none; }
  summary:hover { background: var(--v-sunken); color: var(--v-ink); }
  summary svg { flex: none; width: 17px; height: 17px; }
  [data-state='thinking'] summary svg { color: var(--v-accent); animation: think 1100ms ease-in-out infinite alternate; }
  @keyframes think { from { opacity: 1; } to { opacity: 0.35; } }
  .arrow { font-size: var(--v-size-reading); line-height: 1; }
  details[open] .arrow { rotate: 90deg; }

  .body {
    margin: 6px 0 14px; padding-inline-start: 14px; border-inline-start: 2px solid var(--v-line); color: var(--v-muted);
    font-size: var(--v-size); line-height: 1.58; overflow-wrap: anywhere;
  }
  .body .icon { display: grid; margin-block-start: 4px; margin-inline-start: -6px; }
`;
