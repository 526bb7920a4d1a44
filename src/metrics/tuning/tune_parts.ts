// The tables of a tuning as HTML: the prefill open, decode and matrix products folded to one line each.

import { html, nothing, type TemplateResult } from 'lit';
import { formatCount } from '../shared/figure_format';
import { BASELINE, TILES, type TuneRow, type TuneTable } from './tune_table';
import { prefillSummary } from './tune_texts';

const GAIN = 'How much faster: ms of the other / ms of this one − 1, in percent.';
const PRODUCT_GAIN = 'How much faster than what runs untuned: its time / this one’s − 1, in percent.';
const WON = 'The winner: the fastest, or what runs untuned where the fastest is hardly faster.';

/** A shape and a word: color alone would not tell the winner. */
const winnerMark = html`<span class="mark" role="img" aria-label="winner" title=${WON}></span>`;

export function renderPrefill(table: TuneTable) {
  const title = `Prefill of ${formatCount(table.nTokens)} tokens over ${table.title}`;
  const summary = prefillSummary(table);
  const head = html`<th scope="col"><span class="unseen">Candidate</span></th>
    ${TILES.map((tile) => html`<th scope="col">${breakable(tile)}</th>`)}
    <th scope="col" title="Milliseconds of one layer’s attention">ms</th>
    <th scope="col" title=${GAIN}>vs ${table.baseline ? (table.baseline.letter ?? table.baseline.name) : BASELINE}</th>`;
  return html`<h4>${title}</h4>
    ${summary ? html`<p class="note">${summary}</p>` : nothing}
    ${renderTable(title, head, table.rows.map(renderCandidate), 'tune-prefill')}`;
}

function renderCandidate(row: TuneRow, i: number, rows: readonly TuneRow[]) {
  const isFirstOther = row.letter === null && rows[i - 1]?.letter;
  const tiles = row.tiles
    ? row.tiles.map((tile) => html`<td>${tile}</td>`)
    : html`<td colspan="3" class="text">${row.parameters}</td>`;
  const times = row.refused === null ? html`<td>${row.time}</td><td>${row.gain}</td>` : refusedCell(2);
  return html`${isFirstOther ? html`<tr class="between"><td colspan="6">Tried after these</td></tr>` : nothing}
  ${renderRow(row, html`<th scope="row">${renderName(row)}${row.fastest ? winnerMark : nothing}</th>${tiles}${times}`, 6)}`;
}

/** The letter or the name. A name beside tiles is hidden: only one sibling has tiles. */
function renderName({ letter, name, tiles }: TuneRow) {
  if (letter !== null || tiles === null) return letter ?? name;
  return html`<span class="unseen">${name}</span>`;
}

/** A line for each cache length with its winner; it opens to all candidates. */
export function renderDecode(tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  const head = html`<th scope="col">Kernel</th><th scope="col" class="text">Parameters</th><th scope="col">ms</th>`;
  return html`<h4>Decode, winner by cache length</h4>
    <div data-testid="tune-decode">${tables.map(({ title, rows, winner }) =>
      renderFolded(
        html`<span class="keys">${title}</span>
          <span class="name">${winner ? winner.name : `${rows.length} measured`}</span>
          <span class="ms">${winner ? `${winner.time} ms` : nothing}</span>`,
        renderTable(`Candidates at ${title}`, head, rows.map(renderDecodeRow)),
      ),
    )}</div>`;
}

function renderDecodeRow(row: TuneRow) {
  const cells = html`<th scope="row">${row.name}${row.fastest ? winnerMark : nothing}</th>
    <td class="text">${row.parameters}</td>${row.refused === null ? html`<td>${row.time}</td>` : refusedCell(1)}`;
  return renderRow(row, cells, 3);
}

/** A line for each matrix shape with its winner; it opens to all candidates. */
export function renderProducts(tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  const decode = tables.filter(({ nTokens }) => nTokens === 1);
  const prefill = tables.filter(({ nTokens }) => nTokens > 1);
  return html`<div data-testid="tune-products">
    ${renderShapes('Matrix products of decode', decode)}
    ${renderShapes(`Matrix products of prefill, ${formatCount(prefill[0]?.nTokens ?? null)} tokens`, prefill)}
  </div>`;
}

function renderShapes(heading: string, tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  const head = html`<th scope="col" class="text">Parameters</th>
    <th scope="col" title="Microseconds of one product, cold weights">µs</th>
    <th scope="col" title=${PRODUCT_GAIN}>vs default</th>`;
  return html`<h4>${heading}</h4><div>${tables.map(({ title, rows, winner }) =>
    renderFolded(
      html`<span class="product">${title}</span>
        <span class="ms">${winner ? (winner.isDefault ? 'default' : winner.gain) : `${rows.length} measured`}</span>
        <span class="ms">${winner ? `${winner.time} µs` : nothing}</span>`,
      renderTable(`Candidates of ${title}`, head, rows.map(renderProductRow)),
      title,
    ),
  )}</div>`;
}

function renderProductRow(row: TuneRow) {
  const name = `${row.parameters}${row.isDefault ? ' (default)' : ''}`;
  const times = row.refused === null ? html`<td>${row.time}</td><td>${row.gain}</td>` : refusedCell(2);
  return renderRow(
    row,
    html`<th scope="row" class="text">${name}${row.fastest ? winnerMark : nothing}</th>${times}`,
    3,
  );
}

function renderFolded(summary: TemplateResult, table: TemplateResult, product?: string) {
  return html`<details data-product=${product ?? nothing}>
    <summary>${summary}</summary>
    ${table}
  </details>`;
}

function renderTable(label: string, head: TemplateResult, rows: readonly TemplateResult[], testId?: string) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table data-testid=${testId ?? nothing}>
      <thead><tr>${head}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;
}

/** The cells of a candidate, and below them the reason of a refusal. */
function renderRow({ letter, name, fastest, refused }: TuneRow, cells: TemplateResult, columns: number) {
  return html`<tr class=${fastest ? 'winner' : ''} data-candidate=${letter ?? name}>${cells}</tr>
    ${refused === null ? nothing : html`<tr class="why"><td colspan=${columns}>${refused}</td></tr>`}`;
}

const refusedCell = (columns: number) => html`<td colspan=${columns} class="refused">refused</td>`;

/** A long name in a heading, which may break after an underscore. */
function breakable(name: string) {
  return name.split('_').map((part, i) => (i === 0 ? part : html`_<wbr />${part}`));
}
