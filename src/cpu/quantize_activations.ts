// Activations, keys and values to signed bytes, and the product of activations with quantized weights.

import { halfToNumber } from './half';

/** Elements that share one scale, as in the weights (dequantize.ts). */
const BLOCK = 32;

/** Blocks with smaller magnitudes count as zero: their scale would not be a normal f32 on every device. */
export const ZERO_BELOW = 1e-30;

/** Numbers in signed bytes: x[i] is about q[i] * d[i / block]. */
export interface QuantizedRow {
  /** (n), from -127 to 127. */
  q: Int8Array<ArrayBuffer>;
  /** (n / block), the scale of each block. */
  d: Float32Array<ArrayBuffer>;
}

/**
 * d = max|x| / 127 and q = round(x / d) for each block, of 32 or of a head's row of keys or values. A zero block has
 * d = 0 and q = 0.
 *
 * Halves go to the even neighbor, as in WGSL's `round`. x: (n), n a multiple of `block`. A block with a NaN has
 * d = NaN, q = 0.
 */
export function quantizeActivations(x: Float32Array, block = BLOCK): QuantizedRow {
  if (x.length % block !== 0) {
    throw new RangeError(`quantizeActivations: ${x.length} numbers are no whole number of blocks of ${block}.`);
  }
  const nBlocks = x.length / block;
  const row = { q: new Int8Array(x.length), d: new Float32Array(nBlocks) };
  for (let b = 0; b < nBlocks; b++) {
    let largest = 0;
    for (let i = b * block; i < (b + 1) * block; i++) largest = Math.max(largest, Math.abs(x[i]));
    if (largest < ZERO_BELOW) continue;
    row.d[b] = largest / 127;
    for (let i = b * block; i < (b + 1) * block; i++) row.q[i] = roundHalfToEven(x[i] / row.d[b]);
  }
  return row;
}

/** The numbers that signed bytes keep of x: each is off by half a scale at most. */
export function roundedToBytes(x: Float32Array, block: number): Float32Array<ArrayBuffer> {
  const { q, d } = quantizeActivations(x, block);
  return Float32Array.from(q, (value, i) => value * d[Math.floor(i / block)]);
}

/**
 * y[row] = sum over blocks of d_w d_x (sum over 32 of q_w q_x) + bias[row]: a Q8_0 or Q4_0 matrix times a quantized
 * row.
 *
 * bytes: (rows, blocks) as in the file (dequantize.ts): f16 d_w, then 32 signed bytes, or 32 nibbles minus 8. bias:
 * (rows) or null.
 */
export function linearQ8(
  x: QuantizedRow,
  type: 'Q8_0' | 'Q4_0',
  bytes: Uint8Array,
  bias: Float32Array | null,
): Float32Array {
  const nBlocks = x.d.length;
  const blockBytes = 2 + (type === 'Q8_0' ? BLOCK : BLOCK / 2);
  const rows = bytes.length / (nBlocks * blockBytes);
  if (!Number.isInteger(rows)) {
    throw new RangeError(`linearQ8: ${bytes.length} bytes of ${type} have no whole rows of ${nBlocks} blocks.`);
  }
  if (bias !== null && bias.length !== rows) {
    throw new RangeError(`linearQ8: the bias has ${bias.length} numbers, the weight has ${rows} rows.`);
  }
  const y = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = bias === null ? 0 : bias[row];
    for (let b = 0; b < nBlocks; b++) {
      const at = (row * nBlocks + b) * blockBytes;
      const weight = halfToNumber(bytes[at] | (bytes[at + 1] << 8));
      let dot = 0;
      for (let j = 0; j < BLOCK; j++) dot += quant(type, bytes, at + 2, j) * x.q[b * BLOCK + j];
      sum += weight * x.d[b] * dot;
    }
    y[row] = sum;
  }
  return y;
}

/** Element j of the block whose quants begin at `at`. */
function quant(type: 'Q8_0' | 'Q4_0', bytes: Uint8Array, at: number, j: number): number {
  if (type === 'Q8_0') return (bytes[at + j] << 24) >> 24;
  const byte = bytes[at + (j % (BLOCK / 2))];
  return (j < BLOCK / 2 ? byte & 15 : byte >> 4) - 8;
}

function roundHalfToEven(value: number): number {
  const rounded = Math.round(value); // halves go up
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}
