// Statistics of a figure that was measured several times, and the comparison of two such figures. Pure.

/** The middle and the ends of some values. */
export interface Spread {
  /** The number of values. */
  n: number;
  median: number;
  min: number;
  max: number;
}

/**
 * The verdict of two spreads on the second. `same`: their ranges overlap, so that the difference may be chance.
 * `unknown`: there are too few values.
 */
export type Verdict = 'better' | 'worse' | 'same' | 'unknown';

/** Fewer values than this have no spread worth the name. */
const LEAST_RUNS = 3;

/** The spread of the known values, or null without any. Of an even number, the median is the mean of the middle two. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const sorted = Float64Array.from(known).sort();
  const n = sorted.length;
  if (n === 0) return null;
  const at = (i: number) => sorted[i] ?? Number.NaN;
  return { n, median: (at((n - 1) >> 1) + at(n >> 1)) / 2, min: at(0), max: at(n - 1) };
}

/** Compares `other` with `base`. @param isHigherBetter as of tokens a second, unlike milliseconds */
export function compare(base: Spread | null, other: Spread | null, isHigherBetter: boolean): Verdict {
  if (!base || !other || base.n < LEAST_RUNS || other.n < LEAST_RUNS) return 'unknown';
  if (other.min <= base.max && base.min <= other.max) return 'same';
  return other.median > base.median === isHigherBetter ? 'better' : 'worse';
}

/** The half of the range as a part of the median, such as 0.04 for ±4 %. */
export function relativeSpread({ median, min, max }: Spread): number | null {
  return median > 0 ? (max - min) / 2 / median : null;
}
