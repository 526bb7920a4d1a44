// The figures of a repeated measurement: of one run, of a series of runs, and their comparison. Pure.

import type { RunMetrics } from '../../engine/engine';
import { isOfTooFew } from '../../engine/tbt';
import { formatMs, formatRate, formatRatio } from '../shared/figure_format';
import { compare, type Spread, spreadOf, type Verdict } from './spread';

/** The figures of one run. Null where there was nothing to measure, or too little. */
export interface Sample {
  decode: number | null;
  prefill: number | null;
  ttft: number | null;
  p50: number | null;
  p99: number | null;
}

export type FigureKey = keyof Sample;

/** The figures, in the order of the table. */
export const FIGURES: readonly { key: FigureKey; isHigherBetter: boolean; format: (value: number) => string }[] = [
  { key: 'decode', isHigherBetter: true, format: formatRate },
  { key: 'prefill', isHigherBetter: true, format: formatRate },
  { key: 'ttft', isHigherBetter: false, format: formatMs },
  { key: 'p50', isHigherBetter: false, format: formatMs },
  { key: 'p99', isHigherBetter: false, format: formatMs },
];

export function sampleOf(metrics: RunMetrics): Sample {
  const { decodeTokensPerSecond: decode, prefillTokensPerSecond: prefill, ttftMs: ttft, tbtMs } = metrics;
  const { p50, p99, perToken } = tbtMs;
  return { decode, prefill, ttft, p50, p99: isOfTooFew('p99', perToken.length) ? null : p99 };
}

export interface FigureRow {
  key: FigureKey;
  cells: { spread: Spread | null; median: string; range: string; ratio: string; verdict: Verdict | null }[];
}

/** One row per figure, one cell per series; each series is compared with the first. Unknown figures are left out. */
export function figureRows(series: readonly (readonly Sample[])[]): FigureRow[] {
  return FIGURES.flatMap(({ key, isHigherBetter, format }) => {
    const spreads = series.map((samples) => spreadOf(samples.map((sample) => sample[key])));
    if (spreads.every((spread) => spread === null)) return [];
    const base = spreads[0] ?? null;
    const cells = spreads.map((spread, i) => ({
      spread,
      median: spread ? format(spread.median) : '–',
      range: spread && spread.n > 1 ? rangeText(format(spread.min), format(spread.max)) : '',
      ratio: i > 0 && spread && base && base.median > 0 ? formatRatio(spread.median / base.median) : '',
      verdict: i === 0 || !spread ? null : compare(base, spread, isHigherBetter),
    }));
    return [{ key, cells }];
  });
}

/** Two values with their unit once, where it is the same: '158 – 235 tok/s'. */
function rangeText(min: string, max: string): string {
  const [low, unit] = min.split(' ');
  return unit !== undefined && max.endsWith(` ${unit}`) ? `${low} – ${max}` : `${min} – ${max}`;
}
