// Quantization of activations, and linears on them.

import { expect, test } from 'vitest';
import { dequantize } from '../../src/cpu/dequantize';
import { linear } from '../../src/cpu/linear';
import { linearQ8, quantizeActivations } from '../../src/cpu/quantize_activations';
import { assertClose } from '../close';
import { randomFileBytes } from '../kernels/file_bytes';
import { randomArray } from '../random';

test('the largest magnitude of a block becomes 127, the others are rounded, halves to even', () => {
  const x = new Float32Array(64);
  x.set([127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.49, -3.51]);
  x.set([-254, 1, 3, 2], 32); // d = 2
  const { q, d } = quantizeActivations(x);
  expect([...d]).toEqual([1, 2]);
  expect([...q.slice(0, 10)]).toEqual([127, 0, 2, 2, 0, -2, -2, 3, -4, 0]);
  expect([...q.slice(32, 37)]).toEqual([-127, 0, 2, 1, 0]);
});

test('a zero block, and one too small for an f32 scale, have d = 0 and q = 0', () => {
  const x = new Float32Array(64);
  x[40] = 1e-35;
  const { q, d } = quantizeActivations(x);
  expect([...q]).toEqual(Array(64).fill(0));
  expect([...d]).toEqual([0, 0]);
});

test('a NaN makes its block NaN, and no other', () => {
  const x = new Float32Array(64).fill(1);
  x[3] = Number.NaN;
  expect([...quantizeActivations(x).d]).toEqual([Number.NaN, Math.fround(1 / 127)]);
});

test('no number is more than half a step from where it was', () => {
  const x = randomArray(96, 1, 3);
  const { q, d } = quantizeActivations(x);
  for (let i = 0; i < x.length; i++) {
    const step = d[Math.floor(i / 32)];
    expect(Math.abs(x[i] - q[i] * step)).toBeLessThanOrEqual(step * 0.50001);
  }
});

for (const [type, format] of [
  ['Q8_0', 'q8'],
  ['Q4_0', 'q4'],
] as const) {
  test(`linearQ8 is the product of the dequantized numbers, ${type}, 5x96`, () => {
    const bytes = randomFileBytes(format, 5 * 96, 2);
    const bias = randomArray(5, 3);
    const x = quantizeActivations(randomArray(96, 4));
    const values = Float32Array.from(x.q, (q, i) => q * x.d[Math.floor(i / 32)]);
    assertClose(linearQ8(x, type, bytes, bias), linear(values, dequantize(type, bytes), bias), 1e-6);
    assertClose(linearQ8(x, type, bytes, null), linear(values, dequantize(type, bytes), null), 1e-6);
  });
}

test('what does not fit is refused with its number', () => {
  expect(() => quantizeActivations(new Float32Array(33))).toThrow('33 numbers');
  const x = quantizeActivations(new Float32Array(32));
  expect(() => linearQ8(x, 'Q8_0', new Uint8Array(35), null)).toThrow('35 bytes');
  expect(() => linearQ8(x, 'Q4_0', new Uint8Array(36), new Float32Array(3))).toThrow(/3 numbers.*2 rows/);
});
