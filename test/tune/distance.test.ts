// The distance of one vector from another.

import { expect, test } from 'vitest';
import { relativeDistance } from '../../src/tune/distance';

test('the distance of two vectors is a share of the second, and infinite where a number is none', () => {
  expect(relativeDistance(Float32Array.of(3, 4), Float32Array.of(3, 4))).toBe(0);
  expect(relativeDistance(Float32Array.of(3, 4.5), Float32Array.of(3, 4))).toBeCloseTo(0.1, 12);
  expect(relativeDistance(Float32Array.of(3, Number.NaN), Float32Array.of(3, 4))).toBe(Number.POSITIVE_INFINITY);
  expect(relativeDistance(Float32Array.of(1), Float32Array.of(0))).toBe(Number.POSITIVE_INFINITY);
});
