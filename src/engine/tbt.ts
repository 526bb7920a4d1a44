// Statistics over the gaps between tokens (time between tokens, TBT). Pure: the worker's loop and the panel both use
// it.

/**
 * Milliseconds between the arrivals of tokens in the worker, in order, bursts not smoothed. The first token has no gap:
 * its time is the TTFT. Null where there was nothing to measure.
 */
export interface TbtSummary {
  mean: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  /** Mean absolute difference of neighboring gaps. */
  jitter: number | null;
  perToken: number[];
}

/**
 * Nearest-rank percentile of ascending values: the value at rank ceil(p / 100 * n), counted from 1. At least `p`
 * percent of all values do not exceed it. Always a measured value, never an interpolated one; p = 0 gives the smallest.
 * Null for no values.
 */
export function percentile(sorted: ArrayLike<number>, p: number): number | null {
  const n = sorted.length;
  if (n === 0) return null;
  // p * n before the division, less a hair: 0.07 * 100 is 7.000000000000001, and its ceiling one rank too high.
  const rank = Math.ceil((p * n) / 100 - 1e-9);
  return sorted[Math.min(n, Math.max(1, rank)) - 1];
}

/** The least number of values for a percentile. Of fewer, the nearest rank is simply the largest value. */
export const LEAST_VALUES = { p95: 20, p99: 100 } as const;

/** True if there are too few values for a percentile to differ from the largest. Other figures need no least number. */
export function isOfTooFew(figure: string, values: number): boolean {
  return values > 0 && values < (LEAST_VALUES[figure as keyof typeof LEAST_VALUES] ?? 0);
}

/** Mean absolute difference of neighboring gaps, in the order in which they came; null for fewer than two. */
function jitter(gaps: readonly number[]): number | null {
  if (gaps.length < 2) return null;
  let sum = 0;
  for (let i = 1; i < gaps.length; i++) sum += Math.abs(gaps[i] - gaps[i - 1]);
  return sum / (gaps.length - 1);
}

/**
 * Summarizes gaps in milliseconds, given in order of arrival. One gap has no jitter; no gaps have no figures at all.
 */
export function summarizeGaps(gaps: readonly number[]): TbtSummary {
  const sorted = Float64Array.from(gaps).sort();
  let sum = 0;
  for (const gap of gaps) sum += gap;
  return {
    mean: gaps.length === 0 ? null : sum / gaps.length,
    p50: percentile(sorted, 50),
    p95: percentile(sorted, 95),
    p99: percentile(sorted, 99),
    max: percentile(sorted, 100),
    jitter: jitter(gaps),
    perToken: [...gaps],
  };
}
