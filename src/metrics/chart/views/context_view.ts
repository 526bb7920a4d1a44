// The view "Over context": the gap before each token by the token's position in the context, of this run and earlier
// ones, with a running median. A pinned run shows only its median.

import { panelWords } from '../../../words/panel_words';
import type { RunData } from '../../run/run_data';
import {
  type ChartInput,
  liftToFloor,
  PIN_DASHES,
  type Picture,
  type Range,
  type Series,
  type Spot,
  scaleOf,
  type View,
} from './picture';
import { placeParts, shared } from './place_parts';
import { decimate, nearest, Points, partInside, partWithin, runningMedian } from './points';

/** Least number of positions on the axis. */
const MIN_POSITIONS = 24;
/** Neighbors on each side in a median. */
const REACH = 12;
/** Most gaps in a median. */
export const MEDIAN_OF = 2 * REACH + 1;
/** Most points in the calculation of a running median. */
const MOST_POINTS = 1000;

export class ContextView implements View {
  readonly id = 'context';
  private runs: readonly RunData[] = [];
  private readonly past = new Points();
  private pastOf: readonly RunData[] | null = null;
  private readonly all = new Points();
  private readonly median = new Points();
  private readonly pastShown = new Points();
  /** The points of each place. */
  private readonly liveShown: Points[] = [];
  private readonly pinned = new WeakMap<RunData, Points>();

  get title(): string {
    return panelWords().chart.views.context;
  }

  picture({ run, past, pins, stalls, isLog, columns, zoom }: ChartInput): Picture {
    this.runs = [...past, run];
    if (this.pastOf !== past) this.sortPast(past);
    const live = positionsOf(run);
    this.merge(live, run.gaps);
    const shown = pins.filter((pin) => pin.run !== run);
    const medians = shown.map((pin) => this.medianOf(pin.run));
    const whole = extentOf([...medians, this.all]);
    const x = zoom ?? whole;
    const [pastXs, pastYs] = this.past.view();
    decimate(pastXs, pastYs, columns, this.pastShown, partWithin(pastXs, x.min, x.max));
    const inSight = partWithin(live, x.min, x.max);
    const liveParts = placeParts(run).map(({ ink, ...part }, i) => {
      this.liveShown[i] ??= new Points();
      decimate(live, run.gaps, columns, this.liveShown[i], shared(inSight, part));
      return { ink, points: this.liveShown[i] };
    });
    this.takeMedian(x);
    const points = [this.pastShown, ...liveParts.map((part) => part.points), this.median, ...medians];
    if (isLog) points.forEach(liftToFloor);
    const y = scaleOf(points, isLog, x);
    return {
      series: [
        { kind: 'points', ink: 'muted', data: this.pastShown.view() },
        ...liveParts.map(({ ink, points }): Series => ({ kind: 'points', ink, data: points.view() })),
        ...shown.map(
          ({ letter }, i): Series => ({
            kind: 'line',
            ink: letter,
            dash: PIN_DASHES[letter],
            data: medians[i].view(),
          }),
        ),
        { kind: 'line', ink: 'ink', data: this.median.view() },
      ],
      x,
      whole,
      y,
      yTitle: panelWords().chart.axes.gap,
      xTitle: panelWords().chart.axes.position,
      countsTokens: true,
      isEmpty: this.all.length === 0 && medians.every(({ length }) => length === 0),
      lead: '',
      verticals: [],
      levels: [],
      stalls: stalls.map(({ token, gapMs }) => ({
        x: run.tokens[token - 1]?.position ?? whole.min,
        y: Math.max(gapMs, y.min),
      })),
    };
  }

  gapsWithin({ min, max }: Range): readonly number[] {
    const run = this.runs.at(-1);
    if (!run) return [];
    const { from, to } = partInside(positionsOf(run), min, max);
    return run.gaps.slice(from, to);
  }

  nameRange({ min, max }: Range): string {
    return panelWords().chart.positions(Math.ceil(min), Math.floor(max));
  }

  spotNear(x: number, y: number): Spot | null {
    const near = this.runs.flatMap((run) => {
      const index = nearest(run.tokenNumbers, x - firstPosition(run) + 1);
      return index < 0 ? [] : [this.spotOf(run, index)];
    });
    const far = (spot: Spot) => Math.round(Math.abs(spot.x - x));
    near.sort((a, b) => far(a) - far(b) || Math.abs(a.y - y) - Math.abs(b.y - y));
    return near[0] ?? null;
  }

  count(): number {
    return this.runs.at(-1)?.gaps.length ?? 0;
  }

  spot(index: number): Spot {
    return this.spotOf(this.runs.at(-1)!, index);
  }

  private spotOf(run: RunData, index: number): Spot {
    return { run, index, x: run.tokens[run.tokenNumbers[index] - 1].position, y: run.gaps[index] };
  }

  private sortPast(past: readonly RunData[]): void {
    this.pastOf = past;
    const pairs = past.flatMap((run) => positionsOf(run).map((x, i) => [x, run.gaps[i]] as const));
    pairs.sort((a, b) => a[0] - b[0]);
    this.past.clear();
    for (const [x, y] of pairs) this.past.push(x, y);
  }

  /** Merges past and live points by position. */
  private merge(live: readonly number[], gaps: readonly number[]): void {
    const { past, all } = this;
    all.clear();
    let i = 0;
    for (let j = 0; j < live.length; j++) {
      for (; i < past.length && past.xs[i] <= live[j]; i++) all.push(past.xs[i], past.ys[i]);
      all.push(live[j], gaps[j]);
    }
    for (; i < past.length; i++) all.push(past.xs[i], past.ys[i]);
  }

  /** The running median of what is shown, from neighbors out of sight, too. */
  private takeMedian({ min, max }: Range): void {
    const [xs, ys] = this.all.view();
    const { from, to } = partWithin(xs, min, max);
    const [begin, end] = [Math.max(0, from - REACH), Math.min(xs.length, to + REACH)];
    runningMedian(xs.subarray(begin, end), ys.subarray(begin, end), REACH, MOST_POINTS, this.median);
  }

  private medianOf(run: RunData): Points {
    let median = this.pinned.get(run);
    if (!median) {
      median = new Points();
      runningMedian(positionsOf(run), run.gaps, REACH, MOST_POINTS, median);
      this.pinned.set(run, median);
    }
    return median;
  }
}

/** The positions of all points. */
function extentOf(all: readonly Points[]): Range {
  const xs = all.filter(({ length }) => length > 0).map((each) => each.view()[0]);
  const min = Math.min(...xs.map((each) => each[0]));
  const max = Math.max(...xs.map((each) => each.at(-1)!));
  const first = Number.isFinite(min) ? min : 0;
  return { min: first, max: Math.max(max, first + MIN_POSITIONS) };
}

function firstPosition(run: RunData): number {
  return run.tokens[0]?.position ?? 0;
}

function positionsOf(run: RunData): number[] {
  return run.tokenNumbers.map((number) => run.tokens[number - 1].position);
}
