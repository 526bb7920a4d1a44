// The tables of a tuning: they only show what tune_table.ts made.

import { html, nothing } from 'lit';
import { formatCount } from '../shared/figure_format';
import { BASELINE, TILES, type TuneRow, type TuneTable } from './tune_table';
import { prefillSummary } from './tune_texts';

const GAIN = 'How much faster: ms of the other / ms of this one − 1, in percent.';

const WON = 'The winner: the fastest, or what runs untuned where the fastest is hardly faster.';

/** Marks the winner by a shape and a word, not by color alone. */
export const winnerMark = html`<span class="mark" role="img" aria-label="winner" title=${WON}></span>`;

export function renderPrefill(table: TuneTable) {
  const title = `Prefill of ${formatCount(table.nTokens)} tokens over ${formatCount(table.kvLen)} keys`;
  const summary = prefillSummary(table);
  return html`<h4>${title}</h4>
    ${summary ? html`<p class="note">${summary}</p>` : nothing}
    <div class="scroll" tabindex="0" role="region" aria-label=${title}>
      <table data-testid="tune-prefill">
        <thead><tr>
          <th scope="col"><span class="unseen">Candidate</span></th>
          ${TILES.map((tile) => html`<th scope="col">${breakable(tile)}</th>`)}
          <th scope="col" title="Milliseconds of one layer’s attention">ms</th>
          <th scope="col" title=${GAIN}>vs ${table.baseline ? (table.baseline.letter ?? table.baseline.name) : BASELINE}</th>
        </tr></thead>
        <tbody>${table.rows.map(renderCandidate)}</tbody>
      </table>
    </div>`;
}

function renderCandidate(row: TuneRow, i: number, rows: readonly TuneRow[]) {
  const isFirstOther = row.letter === null && rows[i - 1]?.letter;
  return html`${isFirstOther ? html`<tr class="between"><td colspan="6">Tried after these</td></tr>` : nothing}
  <tr class=${row.fastest ? 'winner' : ''} data-candidate=${row.letter ?? row.name}>
    <th scope="row">${renderName(row)}${row.fastest ? winnerMark : nothing}</th>
    ${row.tiles ? row.tiles.map((tile) => html`<td>${tile}</td>`) : html`<td colspan="3" class="text">${row.parameters}</td>`}
    ${row.refused === null ? html`<td>${row.ms}</td><td>${row.gain}</td>` : html`<td colspan="2" class="refused">refused</td>`}
  </tr>
  ${row.refused === null ? nothing : html`<tr class="why"><td colspan="6">${row.refused}</td></tr>`}`;
}

/** Tiles speak for themselves: the name of their one sibling would only fill the column. */
function renderName({ letter, name, tiles }: TuneRow) {
  if (letter !== null || tiles === null) return letter ?? name;
  return html`<span class="unseen">${name}</span>`;
}

/** One line per cache length with its winner; it opens to all candidates. */
export function renderDecode(tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  return html`<h4>Decode, winner by cache length</h4>
    <div data-testid="tune-decode">${tables.map(renderLength)}</div>`;
}

function renderLength({ kvLen, rows, winner }: TuneTable) {
  return html`<details data-keys=${kvLen}>
    <summary>
      <span class="keys">${formatCount(kvLen)} keys</span>
      <span class="name">${winner ? winner.name : `${rows.length} measured`}</span>
      <span class="ms">${winner ? `${winner.ms} ms` : nothing}</span>
    </summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Candidates at ${kvLen} keys">
      <table>
        <thead><tr><th scope="col">Kernel</th><th scope="col" class="text">Parameters</th><th scope="col">ms</th></tr></thead>
        <tbody>${rows.map(renderDecodeRow)}</tbody>
      </table>
    </div>
  </details>`;
}

function renderDecodeRow(row: TuneRow) {
  return html`<tr class=${row.fastest ? 'winner' : ''} data-candidate=${row.name}>
    <th scope="row">${row.name}${row.fastest ? winnerMark : nothing}</th>
    <td class="text">${row.parameters}</td>
    <td class=${row.refused === null ? '' : 'refused'}>${row.refused === null ? row.ms : 'refused'}</td>
  </tr>
  ${row.refused === null ? nothing : html`<tr class="why"><td colspan="3">${row.refused}</td></tr>`}`;
}

/** Long names in a heading may break after an underscore. */
function breakable(name: string) {
  return name.split('_').map((part, i) => (i === 0 ? part : html`_<wbr />${part}`));
}
