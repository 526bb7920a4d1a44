// The panel's markup around the chart: toolbar, tiles, groups of figures, warnings. They only show.

import { html, nothing } from 'lit';
import type { RunData } from '../run/run_data';
import type { Figure, FigureGroup } from './figures';

/** Figures that take a whole line. */
const WIDE = new Set(['adapter', 'model', 'format', 'context']);

interface Toolbar {
  run: RunData & { isRunning: boolean };
  /** The light of a running run goes on and off with it. */
  isOdd: boolean;
  isLog: boolean;
  /** Null: the run can be pinned. */
  whyNotPin: string | null;
  onLog: () => void;
  onPin: () => void;
  onJson: () => void;
  onCsv: () => void;
}

export function renderToolbar({ run, isOdd, isLog, whyNotPin, onLog, onPin, onJson, onCsv }: Toolbar) {
  const isEmpty = run.tokens.length === 0;
  const pinTitle = whyNotPin ?? 'Keep this run in the chart and compare later ones with it';
  return html`<header>
    <h2 title="TBT: milliseconds between two tokens as they arrive, bursts not smoothed.">Time between tokens</h2>
    ${run.isRunning ? html`<span class=${isOdd ? 'live odd' : 'live'} role="img" aria-label="running" title="Running"></span>` : nothing}
    <span class="tools">
      <button data-testid="log" aria-pressed=${isLog} title="Logarithmic scale of milliseconds" @click=${onLog}>Log</button>
      <button data-testid="pin" ?disabled=${whyNotPin !== null} title=${pinTitle} @click=${onPin}>Pin</button>
      <button data-testid="json" ?disabled=${isEmpty} title="Save this run as JSON" @click=${onJson}>JSON</button>
      <button data-testid="csv" ?disabled=${isEmpty} title="Save this run as CSV" @click=${onCsv}>CSV</button>
    </span>
  </header>`;
}

export function renderGroup(group: FigureGroup) {
  return html`<section>
    <h3>${group.title}</h3>
    ${group.title === 'GPU memory' ? html`<div class="bar" aria-hidden="true"><i></i><i></i><i></i></div>` : nothing}
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

/** Figures with quiet units, and below them what they are of. */
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

export function renderWarnings(warnings: readonly string[]) {
  return html`<section><h3>Warnings</h3><ul>${warnings.map((w) => html`<li>${w}</li>`)}</ul></section>`;
}
