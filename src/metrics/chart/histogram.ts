// Gaps counted by length. Pure.

/** No narrower than this: clocks of workers tick in tenths of a millisecond, and finer bins would show their ticks. */
const TICK_MS = 0.1;

/**
 * Edges of bins, ascending, one more than bins, so that [least, most] lies within: equally wide ones from 0 on, or, for a
 * logarithmic scale, each so many times as wide as the one before.
 * @param least above 0 where `isLog`
 * @param bins how many at most, at least 1
 */
export function binEdges(least: number, most: number, bins: number, isLog: boolean): number[] {
  if (isLog) {
    const top = Math.max(most, least * 1.1);
    const n = Math.max(1, Math.min(bins, Math.ceil(Math.log(top / least) / Math.log(1.05))));
    return Array.from({ length: n + 1 }, (_, i) => least * (top / least) ** (i / n));
  }
  const width = Math.max(most / bins, TICK_MS);
  const n = Math.max(1, Math.min(bins, Math.ceil(most / width - 1e-9)));
  return Array.from({ length: n + 1 }, (_, i) => i * width);
}

/** The bin of a value: the last whose lower edge is not above it; values beyond both ends belong to the outer bins. */
export function binOf(edges: readonly number[], value: number): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    // Less a hair: 3 * 0.1 is a little more than 0.3, which belongs above the edge.
    if (value < edges[middle] * (1 - 1e-9)) high = middle;
    else low = middle;
  }
  return low;
}

/** How many values each bin holds; the sum is the number of values. */
export function countInBins(values: readonly number[], edges: readonly number[]): number[] {
  const counts = new Array<number>(edges.length - 1).fill(0);
  for (const value of values) counts[binOf(edges, value)]++;
  return counts;
}
