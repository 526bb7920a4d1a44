// The legend of a view: what each line and mark on the canvas is. Lists only what is there. Pure.

import { html, nothing, svg } from 'lit';
import { isOfTooFew } from '../../engine/tbt';
import { panelWords } from '../../words/panel_words';
import { isOfServer, MARK, type RunData } from '../run/run_data';
import { MEDIAN_OF } from './views/context_view';
import { type ChartInput, type Ink, LEAST_FOR_LEVELS, PIN_DASHES } from './views/picture';
import { placeParts } from './views/place_parts';

type Sign = 'line' | 'dots' | 'area' | 'dashes' | 'upright' | 'arrow';

interface Entry {
  sign: Sign;
  ink: Ink;
  label: string;
  /** Lengths of dashes and gaps of a line. */
  dash?: readonly number[];
}

type LegendInput = Pick<ChartInput, 'run' | 'pins' | 'past' | 'stalls'>;

/** The entries of a view. Nothing for a run without gaps. */
export function legendOf(view: string, input: LegendInput): Entry[] {
  const { run, pins, past, stalls } = input;
  const texts = panelWords().legend;
  if (run.gaps.length === 0) return [];
  const shown = pins.filter((pin) => pin.run !== run);
  const pinned = (label: (letter: string) => string): Entry[] =>
    shown.map(({ letter }) => ({
      sign: 'line',
      ink: letter,
      dash: PIN_DASHES[letter],
      label: label(letter.toUpperCase()),
    }));
  const stalled: Entry[] = stalls.length > 0 ? [{ sign: 'arrow', ink: 'danger', label: texts.stalls }] : [];
  const percentiles = ['p50', 'p95', 'p99'].filter((name) => !isOfTooFew(name, run.gaps.length));
  if (view === 'context') {
    return [
      ...byPlace(run, 'dots', texts.ofThisRun),
      ...(past.length > 0 ? [{ sign: 'dots', ink: 'muted', label: texts.ofEarlierRuns } as const] : []),
      { sign: 'line', ink: 'ink', label: texts.median(MEDIAN_OF) },
      ...pinned(texts.medianOf),
      ...stalled,
    ];
  }
  if (view === 'histogram') {
    const ends = percentiles.filter((name) => name !== 'p95').join(', ');
    return [
      { sign: 'area', ink: 'accent', label: texts.count },
      ...pinned(texts.run),
      { sign: 'upright', ink: 'ink', label: ends },
    ];
  }
  return [
    ...byPlace(run, 'line', texts.gaps),
    ...pinned(texts.run),
    ...(run.gaps.length >= LEAST_FOR_LEVELS
      ? [{ sign: 'dashes', ink: 'muted', label: percentiles.join(', ') } as const]
      : []),
    ...marksOf(input),
    ...stalled,
  ];
}

/** The gaps of the newest run: one entry, or one for each place where a server computed some. */
function byPlace(run: RunData, sign: Sign, label: string): Entry[] {
  if (!isOfServer(run)) return [{ sign, ink: 'accent', label }];
  const { places } = panelWords().chart;
  const inks = new Set(placeParts(run).map(({ ink }) => ink));
  return [...inks].map((ink) => ({ sign, ink, label: `${label}: ${places[ink === 'remote' ? 'remote' : 'local']}` }));
}

/** The upright lines of the view over tokens. */
function marksOf({ run }: LegendInput): Entry[] {
  const { answer, recovery, firstToken } = panelWords().legend;
  const names: Record<string, string> = { [MARK.answer]: answer, [MARK.recovery]: recovery };
  const labels = [...new Set(run.marks.map(({ label }) => names[label] ?? label))];
  return [
    ...(run.ttftMs === null ? [] : [{ sign: 'upright', ink: 'accent', label: firstToken } as const]),
    ...(labels.length > 0 ? [{ sign: 'upright', ink: 'ink', label: labels.join(', ') } as const] : []),
  ];
}

export function renderLegend(entries: readonly Entry[]) {
  if (entries.length === 0) return nothing;
  return html`<ul class="legend" data-testid="legend" aria-label=${panelWords().legend.name}>${entries.map(
    ({ sign, ink, label, dash }) =>
      html`<li><svg class="key ${ink}" viewBox="0 0 18 10" width="18" height="10" aria-hidden="true">${drawn(sign, dash)}</svg>${label}</li>`,
  )}</ul>`;
}

function drawn(sign: Sign, dash: readonly number[] | undefined) {
  switch (sign) {
    case 'line':
      return svg`<path d="M0 5h18" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray=${dash?.join(' ') ?? nothing} />`;
    case 'dots':
      return svg`<path d="M2 4h3v3h-3zM8 2h3v3h-3zM14 5h3v3h-3z" fill="currentColor" />`;
    case 'area':
      return svg`<path d="M1 9V5h5V1h6v5h5v3z" fill="currentColor" fill-opacity="0.2" stroke="currentColor" />`;
    case 'dashes':
      return svg`<path d="M0 5h18" fill="none" stroke="currentColor" stroke-dasharray="3 3" />`;
    case 'upright':
      return svg`<path d="M9 0v10" fill="none" stroke="currentColor" stroke-width="1.5" />`;
    case 'arrow':
      return svg`<path d="M5 2h8l-4 6z" fill="currentColor" />`;
    default:
      return sign satisfies never;
  }
}
