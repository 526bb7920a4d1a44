// The shown part of an axis: it stays within the whole, is never too narrow, and steps by factors on a logarithm.

import { describe, expect, test } from 'vitest';
import {
  middleOf,
  moveInto,
  panned,
  rangeAfterKey,
  rangeBetween,
  zoomed,
} from '../../../../src/metrics/chart/plot/zoom';

const TOKENS = { whole: { min: 1, max: 101 }, countsTokens: true };
const LOG = { whole: { min: 1, max: 100 }, isLog: true, countsTokens: false };

describe('a range between two places', () => {
  test('takes them in either order and cuts what lies outside', () => {
    expect(rangeBetween(60, 20, TOKENS)).toEqual({ min: 20, max: 60 });
    expect(rangeBetween(-50, 21, TOKENS)).toEqual({ min: 1, max: 72 });
    expect(rangeBetween(91, 201, TOKENS)).toBeNull();
  });

  test('is no narrower than four tokens, and null for everything', () => {
    expect(rangeBetween(50, 50, TOKENS)).toEqual({ min: 48, max: 52 });
    expect(rangeBetween(1, 1, TOKENS)).toEqual({ min: 1, max: 5 });
    expect(rangeBetween(1, 101, TOKENS)).toBeNull();
  });
});

test('zooming keeps the place under the pointer, and the whole is null again', () => {
  const half = zoomed(null, 1 / 2, 26, TOKENS);
  expect(half).toEqual({ min: 13.5, max: 63.5 });
  expect(zoomed(half, 4, 26, TOKENS)).toBeNull();
  expect(zoomed(null, 1e-9, 101, TOKENS)).toEqual({ min: 97, max: 101 });
});

test('moving stops at the ends', () => {
  expect(panned({ min: 20, max: 40 }, 0.5, TOKENS)).toEqual({ min: 30, max: 50 });
  expect(panned({ min: 20, max: 40 }, -5, TOKENS)).toEqual({ min: 1, max: 21 });
  expect(panned({ min: 20, max: 40 }, 50, TOKENS)).toEqual({ min: 81, max: 101 });
  expect(panned(null, 0.5, TOKENS)).toBeNull();
});

test('a place out of sight comes to the middle, one in sight moves nothing', () => {
  expect(moveInto({ min: 20, max: 40 }, 70, TOKENS)).toEqual({ min: 60, max: 80 });
  expect(moveInto({ min: 20, max: 40 }, 100, TOKENS)).toEqual({ min: 81, max: 101 });
  const range = { min: 20, max: 40 };
  expect(moveInto(range, 33, TOKENS)).toBe(range);
  expect(moveInto(null, 33, TOKENS)).toBeNull();
});

test('a logarithmic axis steps by factors', () => {
  const inner = zoomed(null, 1 / 2, 10, LOG);
  expect(inner?.min).toBeCloseTo(Math.sqrt(10));
  expect(inner?.max).toBeCloseTo(10 * Math.sqrt(10));
  expect(middleOf(inner, LOG)).toBeCloseTo(10);
  expect(panned(inner, 9, LOG)?.max).toBeCloseTo(100);
});

test('keys zoom, move and reset; others, such as the arrows of the cursor, do not', () => {
  const press = (key: string, shiftKey = false) => rangeAfterKey({ key, shiftKey }, { min: 20, max: 60 }, null, TOKENS);
  expect(press('+')).toEqual({ min: 30, max: 50 });
  expect(press('-')).toEqual({ min: 1, max: 81 });
  expect(press('ArrowRight', true)).toEqual({ min: 30, max: 70 });
  expect(press('ArrowLeft', true)).toEqual({ min: 10, max: 50 });
  expect(press('0')).toBeNull();
  expect(press('ArrowRight')).toBeUndefined();
  expect(press('Home')).toBeUndefined();
});
