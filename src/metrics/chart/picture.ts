// What a view of the chart shows, in numbers: the views make pictures of runs, the chart paints them. Types, and what views share.

import { isOfTooFew, type TbtSummary } from '../../engine/tbt';
import { newTokensOf, type RunData, type Stall } from '../run/run_data';
import { formatMs } from '../shared/figure_format';
import type { Points } from './points';

/** Names of the panel's colors; pinned runs have one each. */
export type Ink = 'accent' | 'ink' | 'muted' | 'line' | 'danger' | 'a' | 'b' | 'c';

/** Color is never the only sign: each pinned run has dashes of its own, in CSS pixels. */
export const PIN_DASHES = { a: [7, 3], b: [2, 3], c: [9, 3, 2, 3] } as const;
export type PinLetter = keyof typeof PIN_DASHES;

export interface Pin {
  letter: PinLetter;
  run: RunData;
}

export interface ChartInput {
  run: RunData;
  /** Of the run; it may be some tokens old. */
  tbt: TbtSummary;
  stalls: readonly Stall[];
  pins: readonly Pin[];
  /** Finished runs before this one, oldest first. */
  past: readonly RunData[];
  isLog: boolean;
  /** CSS pixels of the plot's width. */
  columns: number;
}

export interface Series {
  kind: 'line' | 'points' | 'steps';
  ink: Ink;
  /** In CSS pixels; none for a solid line. */
  dash?: readonly number[];
  isFilled?: boolean;
  data: [xs: ArrayLike<number>, ys: ArrayLike<number>];
}

export interface Scale {
  min: number;
  max: number;
  isLog?: boolean;
}

export interface Picture {
  series: Series[];
  x: Scale;
  y: Scale;
  /** Over the y axis, and at the end of the x axis. */
  yTitle: string;
  xTitle: string;
  /** A shaded bar in front of the first x, with its label; '' for none. */
  lead: string;
  verticals: { x: number; label: string; ink: Ink }[];
  levels: { y: number; label: string }[];
  /** Stalled tokens. */
  rings: { x: number; y: number }[];
}

/** What the cursor stands on: a gap of a run by its index, or a bin of the histogram. */
export interface Spot {
  run: RunData | null;
  index: number;
  /** On the scales of the newest picture. */
  x: number;
  y: number;
}

export interface View {
  readonly id: string;
  readonly title: string;
  picture(input: ChartInput): Picture;
  /** The spot nearest to a place on the scales, or null where there is nothing. */
  spotNear(x: number, y: number): Spot | null;
  /** Spots that the arrow keys go through: how many, and the one at an index. */
  count(): number;
  spot(index: number): Spot;
}

/** Gaps of one burst may be 0 ms, which a logarithm cannot show. */
export const LOG_FLOOR_MS = 0.01;
/** A median of fewer gaps says nothing. */
const LEAST_FOR_LEVELS = 4;

/** A scale of milliseconds that holds all the points. */
export function scaleOf(all: readonly Points[], isLog: boolean): Scale {
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  for (const { ys, length } of all) {
    for (let i = 0; i < length; i++) {
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

/** Raises what a logarithm cannot show. */
export function liftToFloor({ ys, length }: Points): void {
  for (let i = 0; i < length; i++) if (ys[i] < LOG_FLOOR_MS) ys[i] = LOG_FLOOR_MS;
}

/** The bar of prefill: what it read, and how long that took. */
export function prefillLabel(run: RunData): string {
  const { prefill, metrics } = run;
  if (!prefill) return '';
  if (!metrics)
    return prefill.done < prefill.total
      ? `prefill ${prefill.done} of ${prefill.total}`
      : `prefill ${prefill.total} tokens`;
  return `prefill ${newTokensOf(run) ?? prefill.total} tokens, ${formatMs(metrics.prefillMs)}`;
}
