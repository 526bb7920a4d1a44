// IEEE 754 half precision, round to nearest even, for filling f16 caches.

const f32 = new Float32Array(1);
const bits = new Uint32Array(f32.buffer);

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

export function fromHalf(h: number): number {
  const sign = h & 0x8000 ? -1 : 1;
  const exponent = (h >>> 10) & 31;
  const fraction = h & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

function roundEven(x: number): number {
  const down = Math.floor(x);
  const rest = x - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}
