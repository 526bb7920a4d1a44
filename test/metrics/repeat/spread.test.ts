// What several measurements of a figure say, and what they do not.

import { expect, test } from 'vitest';
import { compare, relativeSpread, spreadOf } from '../../../src/metrics/repeat/spread';

test('the median and the ends, without what is unknown', () => {
  expect(spreadOf([])).toBeNull();
  expect(spreadOf([null, Number.NaN])).toBeNull();
  expect(spreadOf([7])).toEqual({ n: 1, median: 7, min: 7, max: 7 });
  expect(spreadOf([9, 1, null, 5])).toEqual({ n: 3, median: 5, min: 1, max: 9 });
  expect(spreadOf([4, 1, 3, 2])).toEqual({ n: 4, median: 2.5, min: 1, max: 4 });
});

test('a difference counts only if the ranges do not overlap', () => {
  const [slow, fast, between] = [spreadOf([10, 11, 12]), spreadOf([20, 21, 22]), spreadOf([12, 15, 20])];
  expect(compare(slow, fast, true)).toBe('better');
  expect(compare(slow, fast, false)).toBe('worse');
  expect(compare(fast, slow, true)).toBe('worse');
  expect(compare(fast, slow, false)).toBe('better');
  expect([compare(slow, between, true), compare(fast, between, true), compare(slow, slow, true)]).toEqual([
    'same',
    'same',
    'same',
  ]);
});

test('two runs are no measurement', () => {
  expect(compare(spreadOf([1, 2]), spreadOf([8, 9, 10]), true)).toBe('unknown');
  expect(compare(null, spreadOf([8, 9, 10]), true)).toBe('unknown');
});

test('the spread relative to the median', () => {
  expect(relativeSpread({ n: 5, median: 100, min: 96, max: 104 })).toBeCloseTo(0.04);
  expect(relativeSpread({ n: 5, median: 0, min: 0, max: 0 })).toBeNull();
});
