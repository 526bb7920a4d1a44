// Stored weights to f32, with the same bits as in llama.cpp: each value is an f32, a product of small numbers that an
// f32 holds exactly, or one rounded sum of two such products.

import { type BlockFormat, K_BLOCKS, type KType } from './dequantize_k';
import { halfAt } from './half';

type PlainType = 'F32' | 'F16' | 'BF16';
type SmallType = 'Q8_0' | 'Q4_0' | 'Q4_1' | 'Q5_0' | 'Q5_1' | 'IQ4_NL';
export type StoredType = PlainType | SmallType | KType;

/** Elements that share one scale in the formats that are not K-quants. */
const BLOCK = 32;

/** The value of each nibble of IQ4_NL. Source: ggml-common.h, kvalues_iq4nl. */
const IQ4_NL_VALUES = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113] as const;

/** Source: ggml-common.h (block_q8_0 and so on) and ggml-quants.c (dequantize_row_q8_0 and so on). */
const BLOCKS: Record<SmallType | KType, BlockFormat> = {
  Q8_0: { bytes: 34, elements: BLOCK, dequantize: q8 }, // f16 d, 32 x i8
  Q4_0: { bytes: 18, elements: BLOCK, dequantize: q4 }, // f16 d, 16 x two nibbles
  Q4_1: { bytes: 20, elements: BLOCK, dequantize: q4WithMinimum }, // f16 d, f16 m, nibbles
  Q5_0: { bytes: 22, elements: BLOCK, dequantize: q5 }, // f16 d, 32 fifth bits, nibbles
  Q5_1: { bytes: 24, elements: BLOCK, dequantize: q5WithMinimum }, // f16 d, f16 m, 32 fifth bits, nibbles
  IQ4_NL: { bytes: 18, elements: BLOCK, dequantize: iq4 }, // f16 d, nibbles
  ...K_BLOCKS,
};

/** bytes: little-endian, as in the file, at any alignment. Result: one number for each stored element, in order. */
export function dequantize(type: StoredType, bytes: Uint8Array): Float32Array {
  switch (type) {
    case 'F32':
      return new Float32Array(bytes.slice().buffer, 0, count('F32', bytes, 4));
    case 'F16':
      return dequantizeF16(bytes);
    case 'BF16':
      return dequantizeBf16(bytes);
    default:
      return dequantizeBlocks(type, BLOCKS[type], bytes);
  }
}

function dequantizeF16(bytes: Uint8Array): Float32Array {
  const values = new Float32Array(count('F16', bytes, 2));
  for (let i = 0; i < values.length; i++) values[i] = halfAt(bytes, 2 * i);
  return values;
}

/** BF16 is the upper half of an f32. */
function dequantizeBf16(bytes: Uint8Array): Float32Array {
  const bits = new Uint32Array(count('BF16', bytes, 2));
  for (let i = 0; i < bits.length; i++) bits[i] = (bytes[2 * i] << 16) | (bytes[2 * i + 1] << 24);
  return new Float32Array(bits.buffer);
}

function dequantizeBlocks(type: StoredType, format: BlockFormat, bytes: Uint8Array): Float32Array {
  const nBlocks = count(type, bytes, format.bytes);
  const values = new Float32Array(nBlocks * format.elements);
  for (let b = 0; b < nBlocks; b++) format.dequantize(bytes, b * format.bytes, values, b * format.elements);
  return values;
}

/** values[j] = d * q[j], q signed. */
function q8(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const d = halfAt(bytes, at);
  for (let j = 0; j < BLOCK; j++) values[to + j] = d * ((bytes[at + 2 + j] << 24) >> 24);
}

/** Element j of the nibbles at `at`: the low nibble of byte j, or from 16 on the high nibble of byte j - 16. */
function nibble(bytes: Uint8Array, at: number, j: number): number {
  const byte = bytes[at + (j % (BLOCK / 2))];
  return j < BLOCK / 2 ? byte & 15 : byte >> 4;
}

/** Element j of five bits. `at`: 32 fifth bits, then the nibbles. */
function fiveBits(bytes: Uint8Array, at: number, j: number): number {
  return nibble(bytes, at + 4, j) | (((bytes[at + (j >> 3)] >> (j % 8)) & 1) << 4);
}

/** values[j] = d * (q[j] - 8). */
function q4(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const d = halfAt(bytes, at);
  for (let j = 0; j < BLOCK; j++) values[to + j] = d * (nibble(bytes, at + 2, j) - 8);
}

/** values[j] = d * q[j] + m. */
function q4WithMinimum(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const [d, m] = [halfAt(bytes, at), halfAt(bytes, at + 2)];
  for (let j = 0; j < BLOCK; j++) values[to + j] = d * nibble(bytes, at + 4, j) + m;
}

/** values[j] = d * (q[j] - 16), q of five bits. */
function q5(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const d = halfAt(bytes, at);
  for (let j = 0; j < BLOCK; j++) values[to + j] = d * (fiveBits(bytes, at + 2, j) - 16);
}

/** values[j] = d * q[j] + m, q of five bits. */
function q5WithMinimum(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const [d, m] = [halfAt(bytes, at), halfAt(bytes, at + 2)];
  for (let j = 0; j < BLOCK; j++) values[to + j] = d * fiveBits(bytes, at + 4, j) + m;
}

/** values[j] = d * IQ4_NL_VALUES[q[j]]. */
function iq4(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const d = halfAt(bytes, at);
  for (let j = 0; j < BLOCK; j++) values[to + j] = d * IQ4_NL_VALUES[nibble(bytes, at + 2, j)];
}

function count(type: StoredType, bytes: Uint8Array, unit: number): number {
  if (bytes.length % unit !== 0) {
    throw new RangeError(`dequantize: ${bytes.length} bytes are no whole number of ${type} units of ${unit} bytes.`);
  }
  return bytes.length / unit;
}
