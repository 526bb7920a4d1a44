// The tables of tuned matrix products: they only show what tune_products_table.ts made.

import { html, nothing } from 'lit';
import { formatCount } from '../shared/figure_format';
import { winnerMark } from './tune_parts';
import type { ProductRow, ProductTable } from './tune_products_table';

const GAIN = 'How much faster than what runs untuned: its time / this one’s − 1, in percent.';

/** One line per matrix shape with its winner; it opens to all candidates. */
export function renderProducts(tables: readonly ProductTable[]) {
  if (tables.length === 0) return nothing;
  const decode = tables.filter(({ nTokens }) => nTokens === 1);
  const prefill = tables.filter(({ nTokens }) => nTokens > 1);
  return html`<div data-testid="tune-products">
    ${renderPass('Matrix products of decode', decode)}
    ${renderPass(`Matrix products of prefill, ${formatCount(prefill[0]?.nTokens ?? null)} tokens`, prefill)}
  </div>`;
}

function renderPass(title: string, tables: readonly ProductTable[]) {
  if (tables.length === 0) return nothing;
  return html`<h4>${title}</h4><div>${tables.map(renderShape)}</div>`;
}

function renderShape({ title, rows, winner }: ProductTable) {
  return html`<details data-product=${title}>
    <summary>
      <span class="product">${title}</span>
      <span class="ms">${winner ? (winner.isDefault ? 'default' : winner.gain) : `${rows.length} measured`}</span>
      <span class="ms">${winner ? `${winner.us} µs` : nothing}</span>
    </summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Candidates of ${title}">
      <table>
        <thead><tr>
          <th scope="col" class="text">Parameters</th><th scope="col" title="Microseconds of one product, cold weights">µs</th>
          <th scope="col" title=${GAIN}>vs default</th>
        </tr></thead>
        <tbody>${rows.map(renderRow)}</tbody>
      </table>
    </div>
  </details>`;
}

function renderRow(row: ProductRow) {
  return html`<tr class=${row.fastest ? 'winner' : ''}>
    <th scope="row" class="text">${row.parameters}${row.isDefault ? ' (default)' : ''}${row.fastest ? winnerMark : nothing}</th>
    ${row.refused === null ? html`<td>${row.us}</td><td>${row.gain}</td>` : html`<td colspan="2" class="refused">refused</td>`}
  </tr>
  ${row.refused === null ? nothing : html`<tr class="why"><td colspan="3">${row.refused}</td></tr>`}`;
}
