// The panel's figures as markup: tiles, groups, warnings. They only show.

import { html, nothing } from 'lit';
import type { Figure, FigureGroup } from './figures';

/** Figures that take a whole line. */
const WIDE = new Set(['adapter', 'model', 'format', 'context']);

export function renderGroup(group: FigureGroup) {
  return html`<section>
    <h3>${group.title}</h3>
    ${group.title === 'GPU memory' ? html`<div class="bar" aria-hidden="true"><i></i><i></i><i></i></div>` : nothing}
    <dl class="grid">${group.figures.map(renderFigure)}</dl>
    ${group.note ? html`<p class="note">${group.note}</p>` : nothing}
  </section>`;
}

function renderFigure(figure: Figure) {
  return html`<div class=${WIDE.has(figure.key) ? 'wide' : ''} title=${figure.definition}>
    <dt>${figure.label}</dt><dd data-figure=${figure.key}>${figure.value}</dd>
  </div>`;
}

/** As a figure, with a quiet unit. */
export function renderTile(figure: Figure) {
  const [number, unit] = figure.value.split(' ');
  return html`<div title=${figure.definition}>
    <dt>${figure.label}</dt><dd data-figure=${figure.key}>${number}${unit ? html` <small>${unit}</small>` : nothing}</dd>
  </div>`;
}

export function renderWarnings(warnings: readonly string[]) {
  return html`<section><h3>Warnings</h3><ul>${warnings.map((w) => html`<li>${w}</li>`)}</ul></section>`;
}
