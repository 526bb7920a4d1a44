// The comparison of pinned runs as markup: a legend with their lines, and a table.

import { html, nothing, svg } from 'lit';
import { panelWords } from '../../words/panel_words';
import { PIN_DASHES, type Pin, type PinLetter } from '../chart/picture';
import type { RunData } from '../run/run_data';
import { type Cell, type Column, columnName, columnsOf, comparisonRows } from './comparison';

export function renderComparison(pins: readonly Pin[], newest: RunData, unpin: (letter: PinLetter) => void) {
  if (pins.length === 0) return nothing;
  const columns = columnsOf(pins, newest);
  return html`<section data-testid="comparison">
    <h3>Compared runs</h3>
    <ul class="legend">${columns.map((column) => renderColumn(column, unpin))}</ul>
    ${
      columns.length > 1
        ? renderTable(columns)
        : html`<p class="note">Ask again, with other settings or another attention, and both runs stand side by side here.</p>`
    }
  </section>`;
}

const nameOf = (letter: PinLetter | null) => letter?.toUpperCase() ?? 'Now';

function renderColumn(column: Column, unpin: (letter: PinLetter) => void) {
  const { letter, run } = column;
  const name = nameOf(letter);
  const dashes = letter ? PIN_DASHES[letter].join(' ') : nothing;
  return html`<li>
    <svg class="swatch ${letter ?? 'now'}" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
      ${svg`<path d="M0 4h24" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray=${dashes} />`}
    </svg>
    <b>${name}</b>
    <span class="what">${columnName(column)}, ${run.tokens.length} tokens, n = ${run.gaps.length} gaps</span>
    ${
      letter === null
        ? nothing
        : html`<button title="Unpin run ${name}" aria-label="Unpin run ${name}" @click=${() => unpin(letter)}>Unpin</button>`
    }
  </li>`;
}

function renderTable(columns: readonly Column[]) {
  const base = nameOf(columns[0].letter);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Comparison of runs">
    <table>
      <thead><tr>
        <td></td>${columns.map(({ letter }) => html`<th scope="col" class="ink ${letter ?? 'now'}">${nameOf(letter)}</th>`)}
      </tr></thead>
      <tbody>${comparisonRows(columns).map(
        ({ key, label, definition, cells }) => html`<tr data-row=${key}>
          <th scope="row" title=${definition}>${label}</th>
          ${cells.map((cell) => renderCell(cell, base))}
        </tr>`,
      )}</tbody>
    </table>
  </div>`;
}

/** Better and worse have a word and an arrow beside their color. */
const SIGNS = { better: '▲', worse: '▼', same: '=' } as const;

function renderCell({ value, ratio, verdict, note, caveat }: Cell, base: string) {
  const text = panelWords().comparison;
  const judged = verdict
    ? html` <small class=${verdict}><span aria-hidden="true">${SIGNS[verdict]}</span> ${text[verdict]}</small>`
    : nothing;
  return html`<td class=${caveat ? 'faint' : ''}>${value}${note ? html` <small>${note}</small>` : nothing}${
    ratio ? html` <small title=${text.timesRun(base)}>${ratio}</small>${judged}` : nothing
  }${caveat ? html` <small class="caveat">${caveat}</small>` : nothing}</td>`;
}
