// Differences of logits.

import { expect } from 'vitest';

/** The largest difference of two rows of logits. */
export function maxError(actual: Float32Array, wanted: Float32Array): number {
  expect(actual.length).toBe(wanted.length);
  let worst = 0;
  for (let i = 0; i < actual.length; i++) {
    const error = Math.abs(actual[i] - wanted[i]);
    if (!(error <= worst)) worst = error; // NaN counts as the worst error
  }
  return worst;
}

export function standardDeviation(rows: readonly Float32Array[]): number {
  const all = rows.flatMap((row) => [...row]);
  const mean = all.reduce((a, b) => a + b) / all.length;
  return Math.sqrt(all.reduce((sum, v) => sum + (v - mean) ** 2, 0) / all.length);
}
