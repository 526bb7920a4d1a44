// Dequantization against blocks written by hand and by ggml.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dequantize } from '../../src/cpu/dequantize';
import { halfToNumber } from '../../src/cpu/half';

test('half precision: zeros, subnormals, normals, the largest, infinities, NaN', () => {
  const cases: [number, number][] = [
    [0x0000, 0],
    [0x8000, -0],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3555, 1365 * 2 ** -12],
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x7c00, Number.POSITIVE_INFINITY],
    [0xfc00, Number.NEGATIVE_INFINITY],
    [0x7e00, Number.NaN],
  ];
  for (const [bits, value] of cases) expect(halfToNumber(bits)).toBe(value);
});

test('F16 and BF16 read little-endian pairs of bytes', () => {
  expect([...dequantize('F16', Uint8Array.of(0x00, 0x3c, 0x55, 0xb5))]).toEqual([1, -1365 * 2 ** -12]);
  expect([...dequantize('BF16', Uint8Array.of(0x80, 0x3f, 0x49, 0xc0))]).toEqual([1, -3.140625]);
});

test('F32 is read at any alignment', () => {
  const bytes = new Uint8Array(9);
  bytes.set(new Uint8Array(Float32Array.of(0.1, -7).buffer), 1);
  expect([...dequantize('F32', bytes.subarray(1))]).toEqual([Math.fround(0.1), -7]);
});

test('Q8_0: d times a signed byte, two blocks', () => {
  const bytes = new Uint8Array(68);
  bytes.set([0x00, 0x38, 1, 255, 128, 127], 0); // d = 0.5
  bytes.set([0x00, 0xc0, 3], 34); // d = -2
  const values = dequantize('Q8_0', bytes);
  expect(values.length).toBe(64);
  expect([...values.slice(0, 5)]).toEqual([0.5, -0.5, -64, 63.5, 0]);
  expect(values[32]).toBe(-6);
});

test('Q4_0: the low nibble of byte j is element j, the high one element j + 16, both less 8', () => {
  const bytes = new Uint8Array(18).fill(0x88);
  bytes.set([0x00, 0x3c, 0xf0, 0x19], 0); // d = 1
  const values = dequantize('Q4_0', bytes);
  expect([values[0], values[1], values[2]]).toEqual([-8, 1, 0]);
  expect([values[16], values[17], values[18]]).toEqual([7, -7, 0]);
});

for (const [type, unit] of [
  ['F32', 4],
  ['F16', 2],
  ['BF16', 2],
  ['Q8_0', 34],
  ['Q4_0', 18],
  ['Q6_K', 210],
] as const) {
  test(`${type}: no bytes are no numbers, ${unit + 1} bytes are refused`, () => {
    expect(dequantize(type, new Uint8Array(0)).length).toBe(0);
    expect(() => dequantize(type, new Uint8Array(unit + 1))).toThrow(`${unit + 1} bytes`);
  });
}

const BLOCKS = new URL('../fixtures/ggml_blocks/', import.meta.url);
const ELEMENTS = 12 * 256; // elements of a fixture of tools/make_fixtures/ggml_blocks.py

test.each(['Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'IQ4_NL', 'Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K'] as const)(
  '%s: random blocks have the bits that gguf-py reads in them',
  (type) => {
    const file = new Uint8Array(readFileSync(new URL(`${type}.bin`, BLOCKS)));
    const values = dequantize(type, file.subarray(0, -4 * ELEMENTS));
    expect(values.length).toBe(ELEMENTS);
    expect(new Uint32Array(values.buffer)).toEqual(new Uint32Array(file.slice(-4 * ELEMENTS).buffer));
  },
);
