// The parts of the chart's element as markup: the bar with tabs and buttons, the line about the shown range, and the
// frame that fills the window. Pure.

import { html, nothing } from 'lit';
import { isOfTooFew, LEAST_VALUES, summarizeGaps } from '../../engine/tbt';
import { panelWords } from '../../words/panel_words';
import type { RunData } from '../run/run_data';
import { formatMs } from '../shared/figure_format';
import { icons } from '../shared/icons';
import type { Range, View } from './views/picture';

const INKS = ['ink', 'muted', 'line', 'accent', 'fill', 'danger', 'remote', 'a', 'b', 'c'] as const;

interface Bar {
  views: readonly View[];
  view: View;
  isLarge: boolean;
  onChoose: (view: View) => void;
  onTabKey: (event: KeyboardEvent) => void;
  onLarge: () => void;
  onZoom: (factor: number) => void;
}

/** Tabs of the views, and the buttons of the chart. */
export function renderBar({ views, view, isLarge, onChoose, onTabKey, onLarge, onZoom }: Bar) {
  const texts = panelWords().chart;
  const title = isLarge ? texts.close : texts.enlarge;
  const tab = (each: View) => {
    const isChosen = each === view;
    return html`<button role="tab" id=${each.id} data-testid="view-${each.id}" aria-selected=${isChosen} aria-controls="chart"
      tabindex=${isChosen ? 0 : -1} @click=${() => onChoose(each)}>${each.title}</button>`;
  };
  const zoom = (name: string, sign: string, factor: number) =>
    html`<button class="tool sign" title=${name} aria-label=${name} @click=${() => onZoom(factor)}>${sign}</button>`;
  return html`<div class="top">
    ${isLarge ? html`<h2 id="large-title">${panelWords().toolbar.title}</h2>` : nothing}
    <div role="tablist" aria-label=${texts.viewsName} @keydown=${onTabKey}>${views.map(tab)}</div>
    <span class="tools">
      ${isLarge ? [zoom(texts.zoomOut, '−', 2), zoom(texts.zoomIn, '+', 1 / 2)] : nothing}
      <button class="tool" id="large" data-testid="large-chart" title=${title} aria-label=${title} @click=${onLarge}>${isLarge ? icons.close : icons.enlarge}</button>
    </span>
  </div>`;
}

/** The chart's name for screen readers. @param spot what an arrow key reads */
export function describeChart(view: View, zoom: Range | null, spot: string): string {
  return panelWords().chart.described(view.title, zoom ? view.nameRange(zoom) : '', spot);
}

/** The sentence on a chart without gaps. */
export function emptyText(run: RunData | null): string {
  const texts = panelWords().chart;
  if (run?.tokens.length) return texts.onlyOne;
  return run?.prefill ? texts.reading : texts.empty;
}

/** The statistics of the gaps in the shown range. */
function rangeFigures(gaps: readonly number[]) {
  const { p50, p99, max } = summarizeGaps([...gaps]);
  return {
    n: gaps.length,
    p50: formatMs(p50),
    p99: formatMs(p99),
    max: formatMs(max),
    isFew: isOfTooFew('p99', gaps.length),
  };
}

/** The shown range as a sentence, for screen readers. */
export function spokenRange(name: string, gaps: readonly number[]): string {
  const { n, p50, p99, max, isFew } = rangeFigures(gaps);
  const texts = panelWords().chart;
  return n === 0 ? texts.noGaps(name) : texts.figures(name, n, p50, isFew ? texts.tooFew : p99, max);
}

/** The shown range, its statistics, and the way back. */
export function renderRange(name: string, gaps: readonly number[], onReset: () => void) {
  const { n, p50, p99, max, isFew } = rangeFigures(gaps);
  const texts = panelWords().chart;
  return html`<p class="range" data-testid="range">
    <b>${name}</b> <span>n = ${n}</span> <span>p50 <b>${p50}</b></span>
    <span class=${isFew ? 'faint' : ''} title=${isFew ? texts.tooFewHelp(n, LEAST_VALUES.p99) : nothing}>p99 <b>${p99}</b>${isFew ? ` ${texts.tooFew}` : nothing}</span>
    <span>${texts.longest} <b>${max}</b></span>
    <button class="tool" data-testid="reset-zoom" @click=${onReset}>${texts.resetZoom}</button>
  </p>`;
}

/** Hidden elements that resolve CSS colors: a canvas cannot read variables. */
export const probes = INKS.map((name) => html`<span class="probe ${name}"></span>`);

/** The colors of the probes below a root. */
export function colorsOf(root: ParentNode): Record<(typeof INKS)[number], string> {
  const of = (name: string) => {
    const probe = root.querySelector(`.probe.${name}`);
    return probe ? getComputedStyle(probe).color : '';
  };
  return Object.fromEntries(INKS.map((name) => [name, of(name)])) as Record<(typeof INKS)[number], string>;
}
