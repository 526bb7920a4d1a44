// Distances between arrays, for comparisons with a reference.

import { expect } from 'vitest';

/** Largest |actual - expected| over the largest |expected|. Any NaN fails every bound. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  let worst = 0;
  let largest = 1e-30;
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i] - expected[i]);
    if (!(error <= worst)) worst = error;
    largest = Math.max(largest, Math.abs(expected[i]));
  }
  return worst / largest;
}

export function assertClose(actual: ArrayLike<number>, expected: ArrayLike<number>, bound: number): void {
  expect(relativeError(actual, expected)).toBeLessThanOrEqual(bound);
}
