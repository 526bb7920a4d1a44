// Bins of the histogram: every gap is in one, edges ascend, clocks' ticks are not taken for structure.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { binEdges, binOf, countInBins } from '../../../src/metrics/chart/histogram';

const gap = fc.double({ min: 0, max: 1e5, noNaN: true });

for (const isLog of [false, true]) {
  test(`${isLog ? 'logarithmic' : 'linear'} bins hold every gap once, each where its edges say`, () => {
    fc.assert(
      fc.property(fc.array(gap, { minLength: 1, maxLength: 50 }), fc.integer({ min: 1, max: 60 }), (gaps, bins) => {
        const edges = binEdges(Math.max(0.01, Math.min(...gaps)), Math.max(0.01, ...gaps), bins, isLog);
        expect(edges.length).toBeLessThanOrEqual(bins + 1);
        for (let i = 1; i < edges.length; i++) expect(edges[i]).toBeGreaterThan(edges[i - 1]);
        expect(edges.at(-1)).toBeGreaterThanOrEqual(Math.max(...gaps) * (1 - 1e-9));
        expect(countInBins(gaps, edges).reduce((a, b) => a + b, 0)).toBe(gaps.length);
        for (const each of gaps) {
          const bin = binOf(edges, each);
          if (bin > 0) expect(each).toBeGreaterThanOrEqual(edges[bin] * (1 - 1e-8));
          if (bin < edges.length - 2) expect(each).toBeLessThan(edges[bin + 1]);
        }
      }),
    );
  });
}

test('linear bins begin at 0 and are no narrower than a tick of the clock', () => {
  expect(binEdges(0.1, 0.4, 40, false)).toHaveLength(5);
  expect(binEdges(5, 80, 40, false).slice(0, 3)).toEqual([0, 2, 4]);
});

test('logarithmic bins grow by one factor', () => {
  const edges = binEdges(1, 1000, 3, true);
  for (const [i, edge] of edges.entries()) expect(edge).toBeCloseTo(10 ** i);
});

test('a value on an edge belongs above it, however the edge was rounded', () => {
  const edges = binEdges(0.1, 1, 10, false);
  expect(countInBins([0.1, 0.2, 0.3, 0.30000000000000004, 0.7], edges)).toEqual([0, 1, 1, 2, 0, 0, 0, 1, 0, 0]);
});

test('equal gaps make one bin that holds them all', () => {
  for (const isLog of [false, true]) {
    const counts = countInBins([7, 7, 7], binEdges(7, 7, 40, isLog));
    expect(Math.max(...counts)).toBe(3);
  }
});
