// Stored weights to f32, exactly: every value of these formats is an f32, or one rounded product of a scale and a small integer.

export type StoredType = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_0';

/** Elements that share one scale in Q8_0 and Q4_0 (ggml, ggml-common.h). */
const BLOCK = 32;
const Q8_0_BYTES = 2 + BLOCK; // f16 d, 32 x i8
const Q4_0_BYTES = 2 + BLOCK / 2; // f16 d, 16 x two nibbles

/** bytes: little-endian, as in the file, at any alignment. Result: one number per stored element, in order. */
export function dequantise(type: StoredType, bytes: Uint8Array): Float32Array {
  switch (type) {
    case 'F32':
      return dequantiseF32(bytes);
    case 'F16':
      return dequantiseF16(bytes);
    case 'BF16':
      return dequantiseBf16(bytes);
    case 'Q8_0':
      return dequantiseQ8(bytes);
    case 'Q4_0':
      return dequantiseQ4(bytes);
    default:
      throw new RangeError(`dequantise: unknown type ${type satisfies never}.`);
  }
}

/** IEEE 754 binary16 to a number: sign, 5 bits of exponent (bias 15), 10 bits of fraction. */
export function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

function dequantiseF32(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer, 0, count('F32', bytes, 4));
}

function dequantiseF16(bytes: Uint8Array): Float32Array {
  const values = new Float32Array(count('F16', bytes, 2));
  for (let i = 0; i < values.length; i++) values[i] = halfToNumber(bytes[2 * i] | (bytes[2 * i + 1] << 8));
  return values;
}

/** BF16 is the upper half of an f32. */
function dequantiseBf16(bytes: Uint8Array): Float32Array {
  const bits = new Uint32Array(count('BF16', bytes, 2));
  for (let i = 0; i < bits.length; i++) bits[i] = (bytes[2 * i] << 16) | (bytes[2 * i + 1] << 24);
  return new Float32Array(bits.buffer);
}

/** value[j] = d * q[j], q signed. */
function dequantiseQ8(bytes: Uint8Array): Float32Array {
  const nBlocks = count('Q8_0', bytes, Q8_0_BYTES);
  const values = new Float32Array(nBlocks * BLOCK);
  for (let b = 0; b < nBlocks; b++) {
    const at = b * Q8_0_BYTES;
    const d = halfToNumber(bytes[at] | (bytes[at + 1] << 8));
    for (let j = 0; j < BLOCK; j++) values[b * BLOCK + j] = d * ((bytes[at + 2 + j] << 24) >> 24);
  }
  return values;
}

/** value[j] = d * (q[j] - 8): element j is the low nibble of byte j, element j + 16 the high one. */
function dequantiseQ4(bytes: Uint8Array): Float32Array {
  const nBlocks = count('Q4_0', bytes, Q4_0_BYTES);
  const values = new Float32Array(nBlocks * BLOCK);
  for (let b = 0; b < nBlocks; b++) {
    const at = b * Q4_0_BYTES;
    const d = halfToNumber(bytes[at] | (bytes[at + 1] << 8));
    for (let j = 0; j < BLOCK / 2; j++) {
      const byte = bytes[at + 2 + j];
      values[b * BLOCK + j] = d * ((byte & 15) - 8);
      values[b * BLOCK + j + BLOCK / 2] = d * ((byte >> 4) - 8);
    }
  }
  return values;
}

function count(type: StoredType, bytes: Uint8Array, unit: number): number {
  if (bytes.length % unit !== 0) {
    throw new RangeError(`dequantise: ${bytes.length} bytes are no whole number of ${type} units of ${unit} bytes.`);
  }
  return bytes.length / unit;
}
