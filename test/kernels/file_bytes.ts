import type { StoredType } from '../../src/cpu/dequantise';
import type { WeightFormat } from '../../src/kernels/weight_format';
import { randomSource } from '../random';

export const STORED: Record<WeightFormat, StoredType> = {
  f32: 'F32',
  f16: 'F16',
  bf16: 'BF16',
  q8: 'Q8_0',
  q4: 'Q4_0',
};

/** A random tensor as it lies in a file: any bits are legal quants, halves are kept small and finite. */
export function randomFileBytes(format: WeightFormat, elements: number, seed: number): Uint8Array<ArrayBuffer> {
  const next = randomSource(seed);
  const half = () => (Math.floor(next() * 2) << 15) | ((11 + Math.floor(next() * 4)) << 10) | Math.floor(next() * 1024);
  if (format === 'f32') return new Uint8Array(Float32Array.from({ length: elements }, () => 2 * next() - 1).buffer);
  if (format === 'f16') return new Uint8Array(Uint16Array.from({ length: elements }, half).buffer);
  if (format === 'bf16') {
    const floats = new Uint32Array(Float32Array.from({ length: elements }, () => 2 * next() - 1).buffer);
    return new Uint8Array(Uint16Array.from(floats, (bits) => bits >>> 16).buffer);
  }
  const blockBytes = format === 'q8' ? 34 : 18;
  const bytes = Uint8Array.from({ length: (elements / 32) * blockBytes }, () => Math.floor(next() * 256));
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += blockBytes) view.setUint16(at, 0x1800 | Math.floor(next() * 1024), true);
  return bytes;
}
