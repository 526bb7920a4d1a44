// Statistics for tests of sampling.

/**
 * Compares counts with probabilities: Pearson's chi-square as a z-score (Wilson and Hilferty 1931), above 4 by chance
 * once in 30000. Cells with an expected count below 5 are pooled. A count at probability 0 gives infinity.
 */
export function chiSquareZ(counts: readonly number[], probabilities: readonly number[]): number {
  const n = counts.reduce((a, b) => a + b);
  let chi2 = 0;
  let cells = 0;
  const pool = { count: 0, expected: 0 };
  const add = (count: number, expected: number) => {
    chi2 += (count - expected) ** 2 / expected;
    cells++;
  };
  for (const [i, count] of counts.entries()) {
    const expected = probabilities[i] * n;
    if (expected >= 5) add(count, expected);
    else if (expected === 0 && count > 0) return Number.POSITIVE_INFINITY;
    else {
      pool.count += count;
      pool.expected += expected;
    }
  }
  if (pool.expected > 0) add(pool.count, pool.expected);
  const df = cells - 1;
  if (df === 0) return 0;
  return (Math.cbrt(chi2 / df) - (1 - 2 / (9 * df))) / Math.sqrt(2 / (9 * df));
}

/** Reproducible numbers in [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Logits like those of a model: normal, standard deviation `spread`. */
export function normalLogits(n: number, spread: number, random: () => number): Float32Array<ArrayBuffer> {
  return Float32Array.from(
    { length: n },
    () => spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}
