// The histogram: every gap is in one bin, edges ascend, and bins are no narrower than the clock's ticks.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HistogramView } from '../../../../src/metrics/chart/views/histogram_view';
import { inputOf, runOf } from '../runs';

const gap = fc.double({ min: 0, max: 1e5, noNaN: true });

/** The bins of the gaps: their edges, and the number of gaps in each. */
function binsOf(gaps: number[], isLog: boolean): { edges: number[]; counts: number[]; view: HistogramView } {
  const view = new HistogramView();
  const { series } = view.picture(inputOf(runOf(gaps), { isLog }));
  const [edges, counts] = series[0].data;
  return { edges: Array.from(edges), counts: Array.from(counts).slice(0, -1), view };
}

for (const isLog of [false, true]) {
  test(`${isLog ? 'logarithmic' : 'linear'} bins hold every gap once, each where its edges say`, () => {
    fc.assert(
      fc.property(fc.array(gap, { minLength: 1, maxLength: 50 }), (gaps) => {
        const { edges, counts, view } = binsOf(gaps, isLog);
        expect(edges.length).toBeLessThanOrEqual(41);
        for (let i = 1; i < edges.length; i++) expect(edges[i]).toBeGreaterThan(edges[i - 1]);
        expect(edges.at(-1)).toBeGreaterThanOrEqual(Math.max(...gaps) * (1 - 1e-9));
        expect(counts.reduce((a, b) => a + b, 0)).toBe(gaps.length);
        for (const each of gaps) {
          const bin = view.spotNear(each)!.index;
          if (bin > 0) expect(each).toBeGreaterThanOrEqual(edges[bin] * (1 - 1e-8));
          if (bin < edges.length - 2) expect(each).toBeLessThan(edges[bin + 1]);
        }
      }),
    );
  });
}

test('linear bins begin at 0 and are no narrower than a tick of the clock', () => {
  expect(binsOf([0.1, 0.4], false).edges).toHaveLength(5);
  expect(binsOf([5, 80], false).edges.slice(0, 3)).toEqual([0, 2, 4]);
});

test('logarithmic bins grow by one factor', () => {
  const { edges } = binsOf([1, 1000], true);
  for (let i = 1; i < edges.length; i++) expect(edges[i] / edges[i - 1]).toBeCloseTo(1000 ** (1 / 40));
});

test('a value on an edge belongs above it, however the edge was rounded', () => {
  const { counts } = binsOf([0.1, 0.2, 0.3, 0.30000000000000004, 0.7, 1], false);
  expect(counts).toEqual([0, 1, 1, 2, 0, 0, 0, 1, 0, 1]);
});

test('equal gaps make one bin that holds them all', () => {
  for (const isLog of [false, true]) expect(Math.max(...binsOf([7, 7, 7], isLog).counts)).toBe(3);
});

describe('histogram', () => {
  test('counts all gaps, and a bin says which tokens it holds', () => {
    const view = new HistogramView();
    const { series, verticals } = view.picture(inputOf(runOf([5, 5, 5, 5, 5, 5, 39])));
    const counts = Array.from(series[0].data[1]).slice(0, -1);
    expect(counts.reduce((a, b) => a + b)).toBe(7);
    expect(verticals.map(({ x, label }) => `${label} ${x}`)).toEqual(['p50 5']); // too few for p99
    const many = new HistogramView().picture(inputOf(runOf(Array.from({ length: 100 }, (_, i) => (i < 90 ? 5 : 39)))));
    expect(many.verticals.map(({ x, label }) => `${label} ${x}`)).toEqual(['p50 5', 'p99 39']);
    expect(view.describe(view.spotNear(5.1)!.index)).toMatch(
      /^6 of 7 gaps \(86%\) from .* before token 2, 3, 4, 5, 6 …$/,
    );
    expect(view.describe(view.spotNear(20)!.index)).toMatch(/^No gap from/);
  });

  test('pinned runs share its bins', () => {
    const pins = [{ letter: 'a' as const, run: runOf([80, 90]) }];
    const { series } = new HistogramView().picture(inputOf(runOf([5, 6]), { pins }));
    expect(series.map(({ data }) => data[0])).toEqual([series[0].data[0], series[0].data[0]]);
    expect(series[0].data[0].length).toBe(series[0].data[1].length);
  });
});
