// The view "Over context": the gap before each token by the token's position in the context, of this run and earlier
// ones, with a running median. A pinned run shows only its median.

import type { RunData } from '../run/run_data';
import {
  type ChartInput,
  liftToFloor,
  PIN_DASHES,
  type Picture,
  type Series,
  type Spot,
  scaleOf,
  type View,
} from './picture';
import { decimate, nearest, Points, runningMedian } from './points';

/** Least number of positions on the axis. */
const MIN_POSITIONS = 24;
/** Neighbors on each side in a median. */
const REACH = 12;
/** Most points in the calculation of a running median. */
const MOST_POINTS = 1000;

export class ContextView implements View {
  readonly id = 'context';
  readonly title = 'Over context';
  private runs: readonly RunData[] = [];
  private readonly past = new Points();
  private pastOf: readonly RunData[] | null = null;
  private readonly all = new Points();
  private readonly median = new Points();
  private readonly pastShown = new Points();
  private readonly liveShown = new Points();
  private readonly pinned = new WeakMap<RunData, Points>();

  picture({ run, past, pins, stalls, isLog, columns }: ChartInput): Picture {
    this.runs = [...past, run];
    if (this.pastOf !== past) this.sortPast(past);
    const live = positionsOf(run);
    decimate(this.past.view()[0], this.past.view()[1], columns, this.pastShown);
    decimate(live, run.gaps, columns, this.liveShown);
    this.merge(live, run.gaps);
    runningMedian(...this.all.view(), REACH, MOST_POINTS, this.median);
    const shown = pins.filter((pin) => pin.run !== run);
    const medians = shown.map((pin) => this.medianOf(pin.run));
    const points = [this.pastShown, this.liveShown, this.median, ...medians];
    if (isLog) points.forEach(liftToFloor);
    const y = scaleOf(points, isLog);
    const xs = [...medians, this.all].filter(({ length }) => length > 0).map((each) => each.view()[0]);
    const min = Math.min(...xs.map((each) => each[0]));
    const max = Math.max(...xs.map((each) => each.at(-1)!));
    const first = Number.isFinite(min) ? min : 0;
    return {
      series: [
        { kind: 'points', ink: 'muted', data: this.pastShown.view() },
        { kind: 'points', ink: 'accent', data: this.liveShown.view() },
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
      x: { min: first, max: Math.max(max, first + MIN_POSITIONS) },
      y,
      yTitle: 'ms between tokens',
      xTitle: 'position in the context',
      countsTokens: true,
      isEmpty: points.every(({ length }) => length === 0),
      lead: '',
      verticals: [],
      levels: [],
      rings: stalls.map(({ token, gapMs }) => ({
        x: run.tokens[token - 1]?.position ?? first,
        y: Math.max(gapMs, y.min),
      })),
    };
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

function firstPosition(run: RunData): number {
  return run.tokens[0]?.position ?? 0;
}

function positionsOf(run: RunData): number[] {
  return run.tokenNumbers.map((number) => run.tokens[number - 1].position);
}
