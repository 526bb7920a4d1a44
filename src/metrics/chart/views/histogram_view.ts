// The view "Histogram": the number of gaps of each length, in bins that all shown runs share.

import { isOfTooFew } from '../../../engine/tbt';
import { panelWords } from '../../../words/panel_words';
import type { RunData } from '../../run/run_data';
import { formatMs, formatShare } from '../../shared/figure_format';
import {
  type ChartInput,
  isWithin,
  LOG_FLOOR_MS,
  PIN_DASHES,
  type Picture,
  type Range,
  type Series,
  type Spot,
  type View,
} from './picture';

/** Least width of a bin: the clocks of workers tick in tenths of a millisecond, and finer bins would show the ticks. */
const TICK_MS = 0.1;
const BINS = 40;
/** Most tokens named in the readout of a bin. */
const NAMED = 5;

export class HistogramView implements View {
  readonly id = 'histogram';
  private run: RunData | null = null;
  private edges: number[] = [0, 1];
  private counts: number[] = [];
  private isLog = false;
  /** False for gaps out of sight. */
  private isShown = (_gap: number) => true;

  get title(): string {
    return panelWords().chart.views.histogram;
  }

  picture({ run, tbt, pins, isLog, zoom }: ChartInput): Picture {
    this.run = run;
    const shown = pins.filter((pin) => pin.run !== run);
    const runs = [...shown.map((pin) => pin.run), run].filter(({ gaps }) => gaps.length > 0);
    let [least, most] = [Number.POSITIVE_INFINITY, 0];
    for (const { gaps } of runs) {
      for (const gap of gaps) {
        if (gap < least) least = gap;
        if (gap > most) most = gap;
      }
    }
    const edges = binEdges(Math.max(LOG_FLOOR_MS, Math.min(least, 1000)), Math.max(most, LOG_FLOOR_MS), BINS, isLog);
    const whole = { min: edges[0], max: edges.at(-1)! };
    this.edges = zoom ? binsWithin(zoom, isLog) : edges;
    this.isLog = isLog;
    this.isShown = (gap) => zoom === null || isWithin(zoom, gap);
    const counted = (gaps: readonly number[]) => countInBins(gaps.filter(this.isShown), this.edges);
    this.counts = counted(run.gaps);
    const others = shown.map((pin) => counted(pin.run.gaps));
    const series: Series[] = shown.map(({ letter }, i) => ({
      kind: 'steps',
      ink: letter,
      dash: PIN_DASHES[letter],
      data: [this.edges, closed(others[i])],
    }));
    series.unshift({ kind: 'steps', ink: 'accent', isFilled: true, data: [this.edges, closed(this.counts)] });
    const level = (x: number | null, label: string) =>
      x === null || isOfTooFew(label, run.gaps.length)
        ? []
        : [{ x: Math.max(x, whole.min), label, ink: 'ink' as const }];
    return {
      series,
      x: { ...(zoom ?? whole), isLog },
      whole,
      y: { min: 0, max: Math.max(4, ...this.counts, ...others.flat()) * 1.12 },
      yTitle: panelWords().chart.axes.count,
      xTitle: panelWords().chart.axes.gap,
      countsTokens: false,
      isEmpty: runs.length === 0,
      lead: '',
      verticals: [...level(tbt.p50, 'p50'), ...level(tbt.p99, 'p99')],
      levels: [],
      stalls: [],
    };
  }

  gapsWithin(range: Range): readonly number[] {
    return this.run?.gaps.filter((gap) => isWithin(range, gap)) ?? [];
  }

  nameRange({ min, max }: Range): string {
    return panelWords().chart.lengths(formatMs(min), formatMs(max));
  }

  spotNear(x: number): Spot | null {
    return this.run?.gaps.length ? this.spot(binOf(this.edges, x)) : null;
  }

  count(): number {
    return this.run?.gaps.length ? this.counts.length : 0;
  }

  spot(index: number): Spot {
    const [from, to] = [this.edges[index], this.edges[index + 1]];
    return { run: null, index, x: this.isLog ? Math.sqrt(from * to) : (from + to) / 2, y: this.counts[index] };
  }

  /** The content of a bin, as a sentence. */
  describe(index: number): string {
    const { run, edges, counts } = this;
    const [from, to, count] = [edges[index], edges[index + 1], counts[index]];
    if (!run || from === undefined || to === undefined || count === undefined) return '';
    const texts = panelWords().chart;
    const range = texts.between(formatMs(from), formatMs(to));
    if (count === 0) return texts.noGapsIn(range);
    const numbers: number[] = [];
    for (let i = 0; i < run.gaps.length && numbers.length < NAMED; i++) {
      if (this.isShown(run.gaps[i]) && binOf(edges, run.gaps[i]) === index) numbers.push(run.tokenNumbers[i]);
    }
    const more = count > numbers.length ? ' …' : '';
    const share = formatShare(count / run.gaps.length);
    return texts.gapsIn(count, run.gaps.length, share, range, `${numbers.join(', ')}${more}`);
  }
}

/** Repeats the last count: steps need an end, at the last edge. */
function closed(counts: readonly number[]): number[] {
  return [...counts, counts.at(-1) ?? 0];
}

/**
 * Edges of bins that contain [least, most]: ascending, one more than bins. Linear bins start at 0 and have equal
 * widths; each logarithmic bin is wider than the previous one by the same factor.
 * @param least above 0 where `isLog`
 * @param bins most bins, at least 1
 */
function binEdges(least: number, most: number, bins: number, isLog: boolean): number[] {
  if (isLog) {
    const top = Math.max(most, least * 1.1);
    const n = Math.max(1, Math.min(bins, Math.ceil(Math.log(top / least) / Math.log(1.05))));
    return Array.from({ length: n + 1 }, (_, i) => least * (top / least) ** (i / n));
  }
  const width = Math.max(most / bins, TICK_MS);
  const n = Math.max(1, Math.min(bins, Math.ceil(most / width - 1e-9)));
  return Array.from({ length: n + 1 }, (_, i) => i * width);
}

/** Edges of bins that divide a range evenly, or by equal factors on a logarithmic scale. */
function binsWithin({ min, max }: Range, isLog: boolean): number[] {
  const n = isLog ? BINS : Math.max(1, Math.min(BINS, Math.round((max - min) / TICK_MS)));
  return Array.from({ length: n + 1 }, (_, i) => (isLog ? min * (max / min) ** (i / n) : min + ((max - min) * i) / n));
}

/**
 * The bin of a value: the last whose lower edge is not above the value. Values beyond the ends belong to the outer
 * bins.
 */
function binOf(edges: readonly number[], value: number): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    // With a tolerance: 3 * 0.1 is slightly more than 0.3, which belongs above the edge.
    if (value < edges[middle] * (1 - 1e-9)) high = middle;
    else low = middle;
  }
  return low;
}

/** The number of values in each bin. Every value is counted. */
function countInBins(values: readonly number[], edges: readonly number[]): number[] {
  const counts = new Array<number>(edges.length - 1).fill(0);
  for (const value of values) counts[binOf(edges, value)]++;
  return counts;
}
