// Statistics of the gaps between tokens.

import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import type { TbtSummary } from '../../src/engine/protocol';
import { percentile, summarizeGaps } from '../../src/engine/tbt';

test('no gaps give nulls and an empty list', () => {
  expect(summarizeGaps([])).toEqual({
    mean: null,
    p50: null,
    p95: null,
    p99: null,
    max: null,
    jitter: null,
    perToken: [],
  });
});

test('one gap is every percentile and has no jitter', () => {
  expect(summarizeGaps([7])).toEqual({ mean: 7, p50: 7, p95: 7, p99: 7, max: 7, jitter: null, perToken: [7] });
});

test('jitter is the mean absolute difference of neighbors, in order of arrival', () => {
  expect(summarizeGaps([10, 14, 8]).jitter).toBe(5);
  expect(summarizeGaps([8, 10, 14]).jitter).toBe(3);
});

test('the textbook example of the nearest rank: 15 20 35 40 50', () => {
  const sorted = [15, 20, 35, 40, 50];
  expect([5, 30, 40, 50, 100].map((p) => percentile(sorted, p))).toEqual([15, 20, 20, 35, 50]);
  expect(percentile(sorted, 0)).toBe(15);
});

for (const [n, p50, p95, p99] of [
  [2, 1, 2, 2],
  [19, 10, 19, 19],
  [20, 10, 19, 20],
  [21, 11, 20, 21],
  [99, 50, 95, 99],
  [100, 50, 95, 99],
  [101, 51, 96, 100],
  [1000, 500, 950, 990],
] as const) {
  test(`percentiles of 1..${n}, shuffled`, () => {
    const gaps = Array.from({ length: n }, (_, i) => ((i * 7919) % n) + 1);
    expect(new Set(gaps).size).toBe(n);
    expect(summarizeGaps(gaps)).toMatchObject({ p50, p95, p99, max: n, mean: (n + 1) / 2, perToken: gaps });
  });
}

test('no rank is lost to rounding: percentile p of 1..100 is p', () => {
  const sorted = Array.from({ length: 100 }, (_, i) => i + 1);
  for (let p = 1; p <= 100; p++) expect(percentile(sorted, p)).toBe(p);
});

test('every percentile is a measured value, in ascending order, and the input is left alone', () => {
  const gap = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(fc.array(gap, { minLength: 1 }), (gaps) => {
      const before = [...gaps];
      const s = summarizeGaps(gaps);
      expect(gaps).toEqual(before);
      for (const v of [s.p50, s.p95, s.p99, s.max]) expect(gaps.some((g) => g === v)).toBe(true);
      expect(s.p50! <= s.p95! && s.p95! <= s.p99! && s.p99! <= s.max!).toBe(true);
      expect(s.max).toBe(Math.max(...gaps));
    }),
  );
});

test('the summary has the shape that the protocol promises', () => {
  expectTypeOf(summarizeGaps([1])).toEqualTypeOf<TbtSummary>();
});
