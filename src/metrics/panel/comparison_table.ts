// The comparison of pinned runs as markup: a legend with their lines, and a table.

import { html, nothing, svg } from 'lit';
import { panelWords } from '../../words/panel_words';
import { PIN_DASHES, type Pin, type PinLetter } from '../chart/views/picture';
import type { RunData } from '../run/run_data';
import { type Cell, type Column, columnName, columnsOf, comparisonRows } from './comparison';

/** @param other the run that is compared with the pinned ones, and how its column is called */
export function renderComparison(
  pins: readonly Pin[],
  other: { run: RunData; name: string },
  unpin: (letter: PinLetter) => void,
) {
  if (pins.length === 0) return nothing;
  const text = panelWords().comparison;
  const columns = columnsOf(pins, other.run).map((column) => ({
    ...column,
    name: column.letter?.toUpperCase() ?? other.name,
  }));
  return html`<section data-testid="comparison">
    <h3>${text.title}</h3>
    <ul class="legend">${columns.map((column) => renderColumn(column, unpin))}</ul>
    ${columns.length > 1 ? renderTable(columns) : html`<p class="note">${text.alone}</p>`}
  </section>`;
}

type NamedColumn = Column & { name: string };

function renderColumn(column: NamedColumn, unpin: (letter: PinLetter) => void) {
  const { letter, run, name } = column;
  const text = panelWords().comparison;
  const dashes = letter ? PIN_DASHES[letter].join(' ') : nothing;
  return html`<li>
    <svg class="swatch ${letter ?? 'now'}" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
      ${svg`<path d="M0 4h24" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray=${dashes} />`}
    </svg>
    <b>${name}</b>
    <span class="what">${run.origin.name ? html`<bdi class="name">${run.origin.name}</bdi> ` : nothing}${columnName(column)}, ${text.ofTokens(run.tokens.length, run.gaps.length)}</span>
    ${
      letter === null
        ? nothing
        : html`<button title=${text.unpinRun(name)} aria-label=${text.unpinRun(name)} @click=${() => unpin(letter)}>${text.unpin}</button>`
    }
  </li>`;
}

function renderTable(columns: readonly NamedColumn[]) {
  const base = columns[0]?.name ?? '';
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${panelWords().comparison.table}>
    <table>
      <thead><tr>
        <td></td>${columns.map(({ letter, name }) => html`<th scope="col" class="ink ${letter ?? 'now'}">${name}</th>`)}
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
    ? html` <span class=${verdict}><span aria-hidden="true">${SIGNS[verdict]}</span> ${text[verdict]}</span>`
    : nothing;
  return html`<td class=${caveat ? 'faint' : ''}>${value}${note ? html` <small>${note}</small>` : nothing}${
    ratio ? html` <small title=${text.timesRun(base)}>${ratio}${judged}</small>` : nothing
  }${caveat ? html` <small class="caveat">${caveat}</small>` : nothing}</td>`;
}
