// RMSNorm against its formula.

import { expect, test } from 'vitest';
import { rmsNorm } from '../../src/cpu/rms_norm';

const close = (values: readonly number[]) => values.map((v) => expect.closeTo(v, 6));

test('rms_norm of (3, 4) divides by sqrt(12.5) and multiplies by the weight', () => {
  const y = rmsNorm(Float32Array.of(3, 4), Float32Array.of(1, 2), 0);
  expect([...y]).toEqual(close([3 / Math.sqrt(12.5), 8 / Math.sqrt(12.5)]));
});

test('rms_norm adds eps inside the root, so that zeros stay zeros', () => {
  expect([...rmsNorm(Float32Array.of(0, 0), Float32Array.of(1, 1), 1e-5)]).toEqual(close([0, 0]));
  expect([...rmsNorm(Float32Array.of(1, 1), Float32Array.of(1, 1), 3)]).toEqual(close([0.5, 0.5]));
});

test('rms_norm takes rows of the length of the weight each by itself, and adds an offset to the weight', () => {
  const y = rmsNorm(Float32Array.of(3, 4, 0, 2), Float32Array.of(0, 1), 0, 1);
  expect([...y]).toEqual(close([3 / Math.sqrt(12.5), 8 / Math.sqrt(12.5), 0, 2 * Math.SQRT2]));
});
