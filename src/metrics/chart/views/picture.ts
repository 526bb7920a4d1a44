// Pictures: the numbers that views make of runs and the chart paints. Types, and rules that views share.

import { isOfTooFew, type TbtSummary } from '../../../engine/tbt';
import { panelWords } from '../../../words/panel_words';
import { newTokensOf, type RunData, type Stall } from '../../run/run_data';
import { formatMs } from '../../shared/figure_format';
import type { Points } from './points';

/** Names of the panel's colors. Each pinned run has its own, and so have tokens of a server. */
export type Ink = 'accent' | 'ink' | 'muted' | 'line' | 'danger' | 'remote' | 'a' | 'b' | 'c';

/** Dashes of pinned runs, in CSS pixels: color is never the only sign. */
export const PIN_DASHES = { a: [7, 3], b: [2, 3], c: [9, 3, 2, 3] } as const;
export type PinLetter = keyof typeof PIN_DASHES;

export interface Pin {
  letter: PinLetter;
  run: RunData;
}

export interface ChartInput {
  run: RunData;
  /** Statistics of `run`, possibly some tokens old. */
  tbt: TbtSummary;
  stalls: readonly Stall[];
  pins: readonly Pin[];
  /** Finished runs before this one, oldest first. */
  past: readonly RunData[];
  isLog: boolean;
  /** Width of the plot in CSS pixels. */
  columns: number;
  /** The part of the x axis to show. Null: all of it. */
  zoom: Range | null;
}

export interface Series {
  kind: 'line' | 'points' | 'steps';
  ink: Ink;
  /** Lengths of dashes and gaps in CSS pixels. Default: a solid line. */
  dash?: readonly number[];
  isFilled?: boolean;
  data: [xs: ArrayLike<number>, ys: ArrayLike<number>];
}

/** A closed range of numbers. */
export interface Range {
  min: number;
  max: number;
}

export interface Scale extends Range {
  isLog?: boolean;
}

export interface Picture {
  series: Series[];
  /** The part of the x axis that is shown, and all of it. */
  x: Scale;
  whole: Range;
  y: Scale;
  yTitle: string;
  xTitle: string;
  /** The x axis counts tokens: its ticks are whole. */
  countsTokens: boolean;
  /** No run has a gap yet: the scales mean nothing. */
  isEmpty: boolean;
  /** Label of a shaded bar in front of the first x, or '' for no bar. */
  lead: string;
  verticals: { x: number; label: string; ink: Ink }[];
  levels: { y: number; label: string }[];
  /** Stalled tokens. */
  stalls: { x: number; y: number }[];
}

/** The place of the cursor: a gap of a run by its index, or a bin of the histogram (`run` null). */
export interface Spot {
  run: RunData | null;
  index: number;
  /** Coordinates on the scales of the newest picture. */
  x: number;
  y: number;
}

export interface View {
  readonly id: string;
  readonly title: string;
  picture(input: ChartInput): Picture;
  /** The gaps of the newest run within a range of the x axis. */
  gapsWithin(range: Range): readonly number[];
  /** A range of the x axis in words: 'Tokens 20 to 60 of 101'. */
  nameRange(range: Range): string;
  /** The spot nearest to a place on the scales, or null in an empty view. */
  spotNear(x: number, y: number): Spot | null;
  /** The number of spots that the arrow keys visit, and the spot at an index. */
  count(): number;
  spot(index: number): Spot;
}

/** The lowest value on a logarithmic scale: gaps within a burst may be 0 ms. */
export const LOG_FLOOR_MS = 0.01;
/** The median of fewer gaps means nothing. */
export const LEAST_FOR_LEVELS = 4;

export function isWithin({ min, max }: Range, value: number): boolean {
  return value >= min && value <= max;
}

/** A scale of milliseconds that contains all points of the shown range. */
export function scaleOf(all: readonly Points[], isLog: boolean, shown: Range): Scale {
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  for (const { xs, ys, length } of all) {
    for (let i = 0; i < length; i++) {
      if (!isWithin(shown, xs[i])) continue;
      if (ys[i] < min) min = ys[i];
      if (ys[i] > max) max = ys[i];
    }
  }
  max ||= 10;
  return isLog
    ? { min: Math.max(LOG_FLOOR_MS, Math.min(min, max)) / 1.5, max: Math.max(max, LOG_FLOOR_MS) * 1.5, isLog }
    : { min: 0, max: max * 1.12 };
}

export function levelsOf({ p50, p95, p99 }: TbtSummary, count: number, isLog: boolean): Picture['levels'] {
  if (count < LEAST_FOR_LEVELS) return [];
  const floor = isLog ? LOG_FLOOR_MS : 0;
  return Object.entries({ p50, p95, p99 }).flatMap(([label, y]) =>
    y === null || isOfTooFew(label, count) ? [] : [{ label, y: Math.max(y, floor) }],
  );
}

/** Raises values that a logarithmic scale cannot show. */
export function liftToFloor({ ys, length }: Points): void {
  for (let i = 0; i < length; i++) if (ys[i] < LOG_FLOOR_MS) ys[i] = LOG_FLOOR_MS;
}

/** Label of the prefill bar: tokens read, and the time once known. */
export function prefillLabel(run: RunData): string {
  const { prefill, metrics } = run;
  if (!prefill) return '';
  const { done, total } = prefill;
  const { chart, runs } = panelWords();
  if (!metrics && done < total) return chart.prefillOf(done, total);
  const label = chart.prefill(runs.tokens(newTokensOf(run) ?? total));
  return [label, metrics && formatMs(metrics.prefillMs)].filter(Boolean).join(', ');
}
