// Repeated measurements as markup: what was measured, and a table with medians, ranges and verdicts. Pure.

import { html, nothing } from 'lit';
import { panelWords } from '../../words/panel_words';
import { type FigureRow, figureRows, type Sample } from './measured_figures';

export interface Series {
  /** The configuration in a few words. */
  label: string;
  samples: readonly Sample[];
}

const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
/** Most series in a table. */
export const MOST_SERIES = LETTERS.length;

export function renderSeries(series: readonly Series[]) {
  if (series.length === 0) return nothing;
  const texts = panelWords().repeat;
  const rows = figureRows(series.map(({ samples }) => samples));
  return html`
    <ul class="series">${series.map(({ label, samples }, i) => html`<li><b>${LETTERS[i]}</b> ${label}, ${texts.runs(samples.length)}</li>`)}</ul>
    <table data-testid="repeat-table" aria-label=${texts.table}>${rows.map((row) => renderFigure(row, series.length))}</table>
    <p class="note">${series.length > 1 ? texts.howCompared : texts.howRead}</p>`;
}

/** One figure: its name, and a row for each series. */
function renderFigure({ key, cells }: FigureRow, count: number) {
  const texts = panelWords().repeat;
  return html`<tbody data-row=${key}>
    <tr><th scope="rowgroup" colspan="4" title=${texts.figureHelp[key]}>${texts.figures[key]}</th></tr>
    ${cells.map(
      ({ median, range, ratio, verdict }, i) => html`<tr>
        <th scope="row">${count > 1 ? LETTERS[i] : nothing}</th><td class="median">${median}</td><td>${range}</td>
        <td class="verdict ${verdict ?? ''}" data-verdict=${verdict ?? nothing}>${verdict ? `${texts.verdicts[verdict]}${verdict === 'better' || verdict === 'worse' ? ` ${ratio}` : ''}` : nothing}</td>
      </tr>`,
    )}
  </tbody>`;
}
