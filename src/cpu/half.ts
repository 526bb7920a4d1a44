// 16-bit floats to numbers and back.

const f32 = new Float32Array(1);
const bits = new Uint32Array(f32.buffer);

/** The 16 bits of the IEEE 754 binary16 nearest to x, ties to even. 65520 and above become infinite. */
export function toHalf(x: number): number {
  f32[0] = x;
  const sign = (bits[0] >>> 16) & 0x8000;
  const magnitude = bits[0] & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x47800000) return sign | 0x7c00; // 65536 and above
  if (magnitude < 0x38800000) return sign | roundEven(Math.abs(f32[0]) * 2 ** 24); // subnormal: multiples of 2^-24
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded >>> 13) - ((127 - 15) << 10));
}

function roundEven(x: number): number {
  const down = Math.floor(x);
  const rest = x - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}

/** The number of an IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 bits of fraction. */
export function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The half at byte `at`, little-endian. */
export const halfAt = (bytes: Uint8Array, at: number): number => halfToNumber(bytes[at] | (bytes[at + 1] << 8));
