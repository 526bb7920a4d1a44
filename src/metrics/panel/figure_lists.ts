// Figures as markup: the tiles on top of the panel, and the groups below the chart.

import { html, nothing } from 'lit';
import { type Figure, type FigureGroup, NONE } from '../shared/figure_format';

/** Keys of figures that take a whole line. */
const WIDE = new Set(['step', 'adapter', 'model', 'format', 'context', 'cache']);

export function renderGroup(group: FigureGroup) {
  if (group.figures.length === 0) return nothing;
  return html`<section>
    <h3>${group.title}</h3>
    ${group.key === 'memory' ? html`<div class="bar" aria-hidden="true"><i></i><i></i><i></i></div>` : nothing}
    <dl class="grid">${group.figures.map(renderFigure)}</dl>
    ${group.note ? html`<p class="note">${group.note}</p>` : nothing}
  </section>`;
}

function renderFigure(figure: Figure) {
  const classes = [WIDE.has(figure.key) ? 'wide' : '', figure.isFaint ? 'faint' : ''].join(' ').trim();
  return html`<div class=${classes} title=${figure.definition}>
    <dt>${figure.label}</dt><dd data-figure=${figure.key}>${figure.value}</dd>
  </div>`;
}

/** Tiles with faint units, and a note below. */
export function renderTiles(figures: readonly Figure[], note: string) {
  return html`<dl class="tiles">${figures.map(renderTile)}</dl>
    <p class="note" id="tiles-note" data-testid="gaps">${note}</p>`;
}

function renderTile(figure: Figure) {
  const [number, unit] = figure.value.split(' ');
  return html`<div class=${figure.isFaint ? 'faint' : ''} title=${figure.definition}>
    <dt>${figure.label}</dt>
    <dd data-figure=${figure.key} aria-describedby=${figure.isFaint ? 'tiles-note' : nothing}>${number}${unit ? html` <small>${unit}</small>` : nothing}</dd>
  </div>`;
}

/** The figures of a group that have a value. Before the first run, that is what the model's load brought. */
export function knownOf(group: FigureGroup): FigureGroup {
  const figures = group.figures.filter(({ value }) => !value.startsWith(NONE));
  return { ...group, figures };
}
