// Points of a chart: decimation and running median against plain definitions.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimate, nearest, Points, runningMedian } from '../../../../src/metrics/chart/views/points';

const indices = (n: number) => Array.from({ length: n }, (_, i) => i);
const listed = (points: Points) => points.view().map((each) => [...each]);

for (const n of [0, 1, 6, 7, 300, 1001]) {
  test(`${n} points are all kept where there is room, and no peak is lost where there is none`, () => {
    const ys = indices(n).map((i) => (i * 7919) % 101);
    const out = new Points();
    decimate(indices(n), ys, Math.max(1, n), out);
    expect(listed(out)).toEqual([indices(n), ys]);
    decimate(indices(n), ys, 3, out);
    expect(out.length).toBeLessThanOrEqual(6);
    if (n > 0) {
      expect(Math.max(...out.view()[1])).toBe(Math.max(...ys));
      expect(Math.min(...out.view()[1])).toBe(Math.min(...ys));
    }
    expect([...out.view()[0]]).toEqual([...out.view()[0]].sort((a, b) => a - b));
    for (let i = 0; i < out.length; i++) expect(out.ys[i]).toBe(ys[out.xs[i]]);
  });
}

test('a reused buffer shows nothing of its longer past', () => {
  const out = new Points();
  decimate(indices(2000), indices(2000), 2000, out);
  decimate([5], [6], 10, out);
  expect(listed(out)).toEqual([[5], [6]]);
});

test('the running median is the lower middle of each window', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }),
      fc.integer({ min: 0, max: 8 }),
      (ys, reach) => {
        const out = new Points();
        runningMedian(indices(ys.length), ys, reach, 1000, out);
        const medians = ys.map((_, i) => {
          const window = ys.slice(Math.max(0, i - reach), i + reach + 1).sort((a, b) => a - b);
          return window[(window.length - 1) >> 1];
        });
        expect(listed(out)).toEqual([indices(ys.length), medians]);
      },
    ),
  );
});

test('the median of many points uses evenly spaced ones', () => {
  const out = new Points();
  runningMedian(indices(1000), indices(1000), 1, 100, out);
  expect(out.length).toBe(100);
  expect(listed(out)[0].slice(0, 3)).toEqual([0, 10, 20]);
  expect(listed(out)[1].slice(0, 3)).toEqual([0, 10, 20]);
});

test('the nearest of ascending values', () => {
  expect(nearest([], 3)).toBe(-1);
  expect(nearest([4], -100)).toBe(0);
  expect([-1, 2.4, 2.6, 5.9, 6.1, 99].map((x) => nearest([2, 3, 9], x))).toEqual([0, 0, 1, 1, 2, 2]);
});
