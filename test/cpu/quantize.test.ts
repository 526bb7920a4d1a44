// Quantization of weights against blocks written by hand.

import { describe, expect, test } from 'vitest';
import { dequantize } from '../../src/cpu/dequantize';
import { quantize, quantizedValues } from '../../src/cpu/quantize';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
/** A block of 32 that begins with `values` and is filled with `rest`. */
const block = (values: number[], rest = 0) => Float32Array.from({ length: 32 }, (_, i) => values[i] ?? rest);
const scale = (bytes: Uint8Array) => bytes[0] | (bytes[1] << 8);
/** The 32 unsigned nibbles of a Q4_0 block, in order. */
const nibbles = (bytes: Uint8Array) =>
  [...bytes.subarray(2)].map((b) => b & 15).concat([...bytes.subarray(2)].map((b) => b >> 4));

test('a block as ggml quantizes it (gguf-py 0.19, whose bytes for 25,000 random blocks are the same too)', () => {
  const x = Float32Array.from({ length: 32 }, (_, i) => Math.fround(Math.fround(0.017) * (((i * 37) % 64) - 31)));
  expect(hex(quantize('Q8_0', x))).toBe('631c8518ad3fd467fc9124b94be073089d30c457ec7f14a93cd063f88d20b547dc6f');
  expect(hex(quantize('Q4_0', x))).toBe('5aaccf379d047be248bf269df36ad148ae15');
});

describe('Q8_0', () => {
  test('ties go away from zero', () => {
    const bytes = quantize('Q8_0', block([127, 0.5, -0.5, 1.5, -1.5, 2.5, -126.5, 0.49999997]));
    expect(scale(bytes)).toBe(0x3c00);
    expect([...dequantize('Q8_0', bytes)].slice(0, 8)).toEqual([127, 1, -1, 2, -2, 3, -127, 0]);
  });

  test('q comes from the scale before it is rounded to f16', () => {
    const d = 1 + 2 ** -12; // 1 as f16, which would make the second value 100.51
    const bytes = quantize('Q8_0', block([127 * d, 100.49 * d]));
    expect(scale(bytes)).toBe(0x3c00);
    expect([...bytes.subarray(2, 4)]).toEqual([127, 100]);
  });

  test('a block of zeros has the scale zero', () => {
    expect(hex(quantize('Q8_0', block([])))).toBe('00'.repeat(34));
  });
});

describe('Q4_0', () => {
  test('the largest magnitude becomes 0, with either sign; what would be 16 becomes 15', () => {
    const negative = quantize('Q4_0', block([-8, 8, 7.5, 7.49, -7.5, -7.51, 0.5, -0.5]));
    expect(scale(negative)).toBe(0x3c00);
    expect(nibbles(negative).slice(0, 8)).toEqual([0, 15, 15, 15, 1, 0, 9, 8]);
    const positive = quantize('Q4_0', block([8, -8, 0.5]));
    expect(scale(positive)).toBe(0xbc00);
    expect(nibbles(positive).slice(0, 3)).toEqual([0, 15, 8]);
    expect(dequantize('Q4_0', positive)[0]).toBe(8);
  });

  test('a block of zeros has the scale minus zero and every q 8', () => {
    expect(hex(quantize('Q4_0', block([])))).toBe(`0080${'88'.repeat(16)}`);
  });
});

for (const [type, unit] of [
  ['Q8_0', 34],
  ['Q4_0', 18],
] as const) {
  const values = (x: Float32Array) => [...dequantize(type, quantize(type, x))];

  test(`${type}: a NaN or an infinity makes its block NaN, and no other`, () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const x = Float32Array.of(...block([1, 2]), ...block([1, bad, 3]));
      expect(values(x).slice(32)).toEqual(Array(32).fill(Number.NaN));
      expect(values(x).slice(0, 32)).toEqual(values(x.slice(0, 32)));
      expect(values(x)[1]).toBeCloseTo(2, 1);
    }
  });

  test(`${type}: too large for an f16 scale is infinite, too small for one is zero`, () => {
    expect(values(block([3e38, -3e38])).slice(0, 2)).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    for (const tiny of [1e-10, 2 ** -90, 2 ** -91, 2 ** -149])
      expect(values(block([tiny, -tiny]))[0]).toBeCloseTo(0, 40);
  });

  test(`${type}: whole blocks only`, () => {
    expect(quantize(type, new Float32Array(64))).toHaveLength(2 * unit);
    expect(quantize(type, new Float32Array(0))).toHaveLength(0);
    expect(() => quantize(type, new Float32Array(33))).toThrow('33 values');
  });

  test(`${type}: a row that is no whole number of blocks ends in one of its own`, () => {
    const rows = [0, 1].map((row) => Float32Array.from({ length: 35 }, (_, i) => Math.sin(1 + row * 50 + i)));
    const got = quantizedValues(type, Float32Array.of(...rows[0], ...rows[1]), 35);
    for (const [i, row] of rows.entries()) {
      const padded = Float32Array.of(...row, ...Array<number>(29).fill(0));
      expect([...got.slice(i * 35, (i + 1) * 35)]).toEqual(values(padded).slice(0, 35));
    }
    const whole = Float32Array.of(...block([1, 2]), ...block([3, 4]));
    expect([...quantizedValues(type, whole, 32)]).toEqual(values(whole));
  });
}
