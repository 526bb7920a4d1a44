// Ticks of logarithmic axes: round numbers wherever the range begins.

import { expect, test } from 'vitest';
import { logTicks } from '../../../../src/metrics/chart/plot/log_ticks';

test.each([
  [109, 2400, [200, 500, 1000, 2000]],
  [1, 10, [1, 2, 5, 10]],
  [0.0067, 1500, [0.01, 0.1, 1, 10, 100, 1000]],
  [0.3, 0.7, [0.3, 0.4, 0.5, 0.6, 0.7]],
  [21, 48, [30, 40]],
  [100, 110, [100, 105, 110]],
])('from %d to %d', (min, max, ticks) => {
  expect(logTicks(min, max)).toEqual(ticks);
});

test('a range of one value has no more than that tick', () => {
  expect(logTicks(7, 7)).toEqual([]);
});
