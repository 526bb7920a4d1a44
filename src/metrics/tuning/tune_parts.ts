// The tables of a tuning as HTML: the prefill open, decode and matrix products folded to one line each.

import { html, nothing, type TemplateResult } from 'lit';
import { panelWords } from '../../words/panel_words';
import { formatCount } from '../shared/figure_format';
import { BASELINE, TILES, type TuneRow, type TuneTable } from './tune_table';
import { prefillSummary } from './tune_texts';

/** A shape and a word: color alone would not tell the winner. */
function winnerMark() {
  const text = panelWords().tuning;
  return html`<span class="mark" role="img" aria-label=${text.winner} title=${text.winnerHelp}></span>`;
}

export function renderPrefill(table: TuneTable) {
  const text = panelWords().tuning;
  const title = text.prefillTable(formatCount(table.nTokens), table.title);
  const summary = prefillSummary(table);
  const head = html`<th scope="col"><span class="unseen">${text.candidate}</span></th>
    ${TILES.map((tile) => html`<th scope="col">${breakable(tile)}</th>`)}
    <th scope="col" title=${text.layerTime}>ms</th>
    <th scope="col" title=${text.gainHelp}>${text.against(table.baseline ? (table.baseline.letter ?? table.baseline.name) : BASELINE)}</th>`;
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
  return html`${isFirstOther ? html`<tr class="between"><td colspan="6">${panelWords().tuning.triedAfter}</td></tr>` : nothing}
  ${renderRow(row, html`<th scope="row">${renderName(row)}${row.fastest ? winnerMark() : nothing}</th>${tiles}${times}`, 6)}`;
}

/** The letter or the name. A name beside tiles is hidden: only one sibling has tiles. */
function renderName({ letter, name, tiles }: TuneRow) {
  if (letter !== null || tiles === null) return letter ?? name;
  return html`<span class="unseen">${name}</span>`;
}

/** A line for each cache length with its winner; it opens to all candidates. */
export function renderDecode(tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  const text = panelWords().tuning;
  const head = html`<th scope="col">${text.kernel}</th><th scope="col" class="text">${text.parameters}</th><th scope="col">ms</th>`;
  return html`<h4>${text.decodeTables}</h4>
    <div data-testid="tune-decode">${tables.map(({ title, rows, winner }) =>
      renderFolded(
        html`<span class="keys">${title}</span>
          <span class="name">${winner ? winner.name : text.measuredCount(rows.length)}</span>
          <span class="ms">${winner ? `${winner.time} ms` : nothing}</span>`,
        renderTable(text.candidatesAt(title), head, rows.map(renderDecodeRow)),
      ),
    )}</div>`;
}

function renderDecodeRow(row: TuneRow) {
  const cells = html`<th scope="row">${row.name}${row.fastest ? winnerMark() : nothing}</th>
    <td class="text">${row.parameters}</td>${row.refused === null ? html`<td>${row.time}</td>` : refusedCell(1)}`;
  return renderRow(row, cells, 3);
}

/** A line for each matrix shape with its winner; it opens to all candidates. */
export function renderProducts(tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  const decode = tables.filter(({ nTokens }) => nTokens === 1);
  const prefill = tables.filter(({ nTokens }) => nTokens > 1);
  const text = panelWords().tuning;
  return html`<div data-testid="tune-products">
    ${renderShapes(text.decodeProducts, decode)}
    ${renderShapes(text.prefillProducts(formatCount(prefill[0]?.nTokens ?? null)), prefill)}
  </div>`;
}

function renderShapes(heading: string, tables: readonly TuneTable[]) {
  if (tables.length === 0) return nothing;
  const text = panelWords().tuning;
  const head = html`<th scope="col" class="text">${text.parameters}</th>
    <th scope="col" title=${text.productTime}>µs</th>
    <th scope="col" title=${text.productGainHelp}>${text.against(text.default)}</th>`;
  return html`<h4>${heading}</h4><div>${tables.map(({ title, rows, winner }) =>
    renderFolded(
      html`<span class="product">${title}</span>
        <span class="ms">${winner ? (winner.isDefault ? text.default : winner.gain) : text.measuredCount(rows.length)}</span>
        <span class="ms">${winner ? `${winner.time} µs` : nothing}</span>`,
      renderTable(text.candidatesOf(title), head, rows.map(renderProductRow)),
      title,
    ),
  )}</div>`;
}

function renderProductRow(row: TuneRow) {
  const name = row.isDefault ? panelWords().tuning.defaultOf(row.parameters) : row.parameters;
  const times = row.refused === null ? html`<td>${row.time}</td><td>${row.gain}</td>` : refusedCell(2);
  return renderRow(
    row,
    html`<th scope="row" class="text">${name}${row.fastest ? winnerMark() : nothing}</th>${times}`,
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

const refusedCell = (columns: number) =>
  html`<td colspan=${columns} class="refused">${panelWords().tuning.refused}</td>`;

/** A long name in a heading, which may break after an underscore. */
function breakable(name: string) {
  return name.split('_').map((part, i) => (i === 0 ? part : html`_<wbr />${part}`));
}
