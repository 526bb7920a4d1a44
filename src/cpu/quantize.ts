// Weights to Q8_0 and Q4_0, as ggml quantizes them.

import { dequantize } from './dequantize';
import { toHalf } from './half';

/** Block formats to quantize to, as in a file. Source: ggml, quantize_row_q8_0_ref and quantize_row_q4_0_ref. */
export type BlockType = 'Q8_0' | 'Q4_0';

const BLOCK = 32;
/**
 * Blocks with smaller magnitudes count as zero: their scale is zero as f16 anyway, and GPUs flush numbers near 2^-126.
 */
const SMALLEST = 2 ** -90;
const HALF_NAN = 0x7e00;

/**
 * values: whole blocks of 32. Result: 34 (Q8_0) or 18 (Q4_0) bytes a block, the scale d first, as f16. Every operation
 * is rounded to f32, and q uses d before its rounding to f16. A block with a NaN or an infinity gets the scale NaN, so
 * that damage stays visible. A block too large for an f16 scale gets an infinite scale, as in ggml.
 */
export function quantize(type: BlockType, values: Float32Array): Uint8Array<ArrayBuffer> {
  if (values.length % BLOCK !== 0) {
    throw new RangeError(`quantize: ${values.length} values are no whole number of blocks of ${BLOCK}.`);
  }
  const blockBytes = type === 'Q8_0' ? 2 + BLOCK : 2 + BLOCK / 2;
  const bytes = new Uint8Array((values.length / BLOCK) * blockBytes);
  for (let b = 0; b < values.length / BLOCK; b++) {
    const block = values.subarray(b * BLOCK, (b + 1) * BLOCK);
    const out = bytes.subarray(b * blockBytes, (b + 1) * blockBytes);
    if (type === 'Q8_0') quantizeQ8(block, out);
    else quantizeQ4(block, out);
  }
  return bytes;
}

/**
 * The values of rows of `cols` values after quantizing. Each row has its own blocks, the last one padded with zeros.
 */
export function quantizedValues(type: BlockType, values: Float32Array, cols: number): Float32Array {
  if (cols % BLOCK === 0) return dequantize(type, quantize(type, values));
  const result = new Float32Array(values.length);
  const row = new Float32Array(Math.ceil(cols / BLOCK) * BLOCK);
  for (let at = 0; at < values.length; at += cols) {
    row.set(values.subarray(at, at + cols));
    result.set(dequantize(type, quantize(type, row)).subarray(0, cols), at);
  }
  return result;
}

/** d = max |x| / 127, q = x / d rounded, half away from zero. */
function quantizeQ8(x: Float32Array, out: Uint8Array): void {
  const most = Math.abs(extreme(x));
  const d = Math.fround(most / 127);
  setScale(out, most, toHalf(d));
  const inverse = Number.isFinite(most) && most >= SMALLEST ? Math.fround(1 / d) : 0;
  for (let j = 0; j < BLOCK; j++) {
    const scaled = inverse === 0 ? 0 : Math.fround(x[j] * inverse);
    out[2 + j] = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
  }
}

/** d = the x of the largest magnitude / -8, q = x / d + 8 rounded, at most 15. That x gets q = 0, exactly. */
function quantizeQ4(x: Float32Array, out: Uint8Array): void {
  const max = extreme(x);
  const d = Math.fround(max / -8);
  setScale(out, Math.abs(max), toHalf(d));
  const inverse = Number.isFinite(max) && Math.abs(max) >= SMALLEST ? Math.fround(1 / d) : 0;
  const q = (value: number) => {
    const scaled = inverse === 0 ? 0 : Math.fround(value * inverse);
    return Math.min(15, Math.trunc(Math.fround(scaled + 8.5)));
  };
  for (let j = 0; j < BLOCK / 2; j++) out[2 + j] = q(x[j]) | (q(x[j + BLOCK / 2]) << 4);
}

/** The first value of the largest magnitude, or NaN if there is one. */
function extreme(x: Float32Array): number {
  let most = 0;
  for (const v of x) {
    if (Number.isNaN(v)) return Number.NaN;
    if (Math.abs(v) > Math.abs(most)) most = v;
  }
  return most;
}

function setScale(out: Uint8Array, most: number, half: number): void {
  const bits = Number.isFinite(most) ? half : HALF_NAN;
  out[0] = bits & 0xff;
  out[1] = bits >> 8;
}
