// 16-bit floats: every value, and rounding to them.

import { expect, test } from 'vitest';
import { halfToNumber, toHalf } from '../../src/cpu/half';

test('every half comes back from its number as it was', () => {
  for (let half = 0; half <= 0xffff; half++) {
    const x = halfToNumber(half);
    if (Number.isNaN(x)) expect(halfToNumber(toHalf(x))).toBeNaN();
    else if (toHalf(x) !== half) expect(toHalf(x)).toBe(half);
  }
});

test('a number between two halves goes to the nearer one, in the middle to the even one', () => {
  for (let half = 0; half < 0x7bff; half++) {
    const [low, high] = [halfToNumber(half), halfToNumber(half + 1)];
    const middle = (low + high) / 2; // f32 holds the middle, and a quarter of the gap
    const got = [(low + middle) / 2, middle, (middle + high) / 2].map(toHalf);
    const want = [half, half + (half % 2), half + 1];
    if (got.join() !== want.join()) expect(got).toEqual(want);
  }
});

test.each([
  [65519, 0x7bff],
  [65520, 0x7c00],
  [1e30, 0x7c00],
  [Number.POSITIVE_INFINITY, 0x7c00],
  [-65504, 0xfbff],
  [-0, 0x8000],
  [2 ** -26, 0],
  [-1.5 * 2 ** -25, 0x8001],
])('%s is %i as a half', (x, half) => {
  expect(toHalf(x)).toBe(half);
});
