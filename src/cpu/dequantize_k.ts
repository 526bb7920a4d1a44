// K-quants to f32: blocks of 256 elements, in which each run of 16 or 32 has a small integer scale (and minimum), times
// one or two f16 of the block. Source: ggml-common.h (block_q2_K to block_q6_K), ggml-quants.c (dequantize_row_q2_K to
// q6_K).

import { halfAt } from './half';

export type KType = 'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K';

/** A block format. `dequantize` writes the block at byte `at` to values[to], values[to + 1] ... */
export interface BlockFormat {
  bytes: number;
  elements: number;
  dequantize(bytes: Uint8Array, at: number, values: Float32Array, to: number): void;
}

const BLOCK = 256;

export const K_BLOCKS: Record<KType, BlockFormat> = {
  Q2_K: { bytes: 84, elements: BLOCK, dequantize: q2 }, // 16 x (scale, minimum), 64 x four 2 bits, f16 d, f16 dmin
  Q3_K: { bytes: 110, elements: BLOCK, dequantize: q3 }, // 32 x eight third bits, 64 x four 2 bits, 12 bytes, f16 d
  Q4_K: { bytes: 144, elements: BLOCK, dequantize: q4 }, // f16 d, f16 dmin, 12 bytes, 128 x two nibbles
  Q5_K: { bytes: 176, elements: BLOCK, dequantize: q5 }, // f16 d, f16 dmin, 12 bytes, 32 x eight fifth bits, nibbles
  Q6_K: { bytes: 210, elements: BLOCK, dequantize: q6 }, // 128 x two nibbles, 64 x four 2 bits, 16 x i8 scales, f16 d
};

/** Element i of two bits. 32 bytes hold 128 elements, and byte l holds elements l, 32 + l, 64 + l and 96 + l. */
const twoBits = (bytes: Uint8Array, at: number, i: number): number =>
  (bytes[at + (i >> 7) * 32 + (i % 32)] >> (2 * ((i >> 5) & 3))) & 3;

/** Element i of one bit. Byte l holds elements l, 32 + l, 64 + l ... */
const oneBit = (bytes: Uint8Array, at: number, i: number): number => (bytes[at + (i % 32)] >> (i >> 5)) & 1;

/** Element i of four bits. 32 bytes hold 64 elements, and byte l holds elements l and 32 + l. */
const nibble = (bytes: Uint8Array, at: number, i: number): number =>
  (bytes[at + (i >> 6) * 32 + (i % 32)] >> (4 * ((i >> 5) & 1))) & 15;

/** values[i] = d * scale * q[i] - dmin * minimum, 16 elements a scale. */
function q2(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const [d, dmin] = [halfAt(bytes, at + 80), halfAt(bytes, at + 82)];
  for (let i = 0; i < BLOCK; i++) {
    const scale = bytes[at + (i >> 4)];
    values[to + i] = d * (scale & 15) * twoBits(bytes, at + 16, i) - dmin * (scale >> 4);
  }
}

/** values[i] = d * (scale - 32) * (q[i] - 4), q of three bits, 16 elements a scale. */
function q3(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const d = halfAt(bytes, at + 108);
  for (let i = 0; i < BLOCK; i++) {
    const q = twoBits(bytes, at + 32, i) + 4 * oneBit(bytes, at, i);
    values[to + i] = d * (q3Scale(bytes, at + 96, i >> 4) - 32) * (q - 4);
  }
}

/** Scale s of 16, six bits each: the low four in the nibbles of 8 bytes, the high two in 4 more bytes. */
function q3Scale(bytes: Uint8Array, at: number, s: number): number {
  const low = (bytes[at + (s % 8)] >> (4 * (s >> 3))) & 15;
  return low | (((bytes[at + 8 + (s % 4)] >> (2 * (s >> 2))) & 3) << 4);
}

/** values[i] = d * scale * q[i] - dmin * minimum, 32 elements a scale. */
function q4(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const [d, dmin] = [halfAt(bytes, at), halfAt(bytes, at + 2)];
  for (let i = 0; i < BLOCK; i++) {
    const [scale, minimum] = scaleAndMinimum(bytes, at + 4, i >> 5);
    values[to + i] = d * scale * nibble(bytes, at + 16, i) - dmin * minimum;
  }
}

/** The formula of Q4_K, q of five bits. */
function q5(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const [d, dmin] = [halfAt(bytes, at), halfAt(bytes, at + 2)];
  for (let i = 0; i < BLOCK; i++) {
    const [scale, minimum] = scaleAndMinimum(bytes, at + 4, i >> 5);
    const q = nibble(bytes, at + 48, i) | (oneBit(bytes, at + 16, i) << 4);
    values[to + i] = d * scale * q - dmin * minimum;
  }
}

/**
 * Scale and minimum s of 8, six bits each in 12 bytes, which the last four share with the first. Source:
 * get_scale_min_k4.
 */
function scaleAndMinimum(bytes: Uint8Array, at: number, s: number): [scale: number, minimum: number] {
  if (s < 4) return [bytes[at + s] & 63, bytes[at + s + 4] & 63];
  const shared = bytes[at + s + 4];
  return [(shared & 15) | ((bytes[at + s - 4] >> 6) << 4), (shared >> 4) | ((bytes[at + s] >> 6) << 4)];
}

/** values[i] = d * scale * (q[i] - 32), q of six bits, 16 elements a signed scale. 64 bytes hold 128 nibbles. */
function q6(bytes: Uint8Array, at: number, values: Float32Array, to: number): void {
  const d = halfAt(bytes, at + 208);
  for (let i = 0; i < BLOCK; i++) {
    const low = (bytes[at + (i >> 7) * 64 + (i % 64)] >> (4 * ((i >> 6) & 1))) & 15;
    const scale = (bytes[at + 192 + (i >> 4)] << 24) >> 24;
    values[to + i] = d * scale * ((low | (twoBits(bytes, at + 128, i) << 4)) - 32);
  }
}
