// Pooling and normalization against values by hand.

import { expect, test } from 'vitest';
import { normalize, pool } from '../../src/cpu/embedding';

const rows = [new Float32Array([1, 2]), new Float32Array([3, -6]), new Float32Array([5, 1])];

test('last pooling takes the last row, as a copy', () => {
  const pooled = pool(rows, 'last');
  expect([...pooled]).toEqual([5, 1]);
  expect(pooled).not.toBe(rows[2]);
});

test('mean pooling takes the mean of the rows', () => {
  expect([...pool(rows, 'mean')]).toEqual([3, -1]);
  expect([...pool(rows.slice(0, 1), 'mean')]).toEqual([1, 2]);
});

test('a normalized vector has length 1, and zeros stay zeros', () => {
  const y = normalize(new Float32Array([3, 0, -4]));
  expect(y[0]).toBeCloseTo(0.6, 6);
  expect(y[2]).toBeCloseTo(-0.8, 6);
  expect([...normalize(new Float32Array(2))]).toEqual([0, 0]);
});
