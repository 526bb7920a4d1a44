// Random tensors as they lie in files.

import type { WeightFormat } from '../../src/kernels/linear/weight_format';
import { FILE_TYPES, type FileType } from '../../src/kernels/load/file_types';
import { randomSource } from '../random';

/** The type that a format is made of as it is. */
export const STORED: Record<WeightFormat, FileType> = {
  f32: 'F32',
  f16: 'F16',
  bf16: 'BF16',
  q8: 'Q8_0',
  q4: 'Q4_0',
  q4_1: 'Q4_1',
  q5_1: 'Q5_1',
  q2_k: 'Q2_K',
  q4_k: 'Q4_K',
  q5_k: 'Q5_K',
  q6_k: 'Q6_K',
};

/** Bytes of the f16 scales of a block. */
const HALVES: Partial<Record<FileType, readonly number[]>> = {
  Q4_1: [0, 2],
  Q5_1: [0, 2],
  Q2_K: [80, 82],
  Q3_K: [108],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
};

/** A random tensor as it lies in a file: any bits are legal quants, halves are kept small and finite. */
export function randomFileBytes(
  format: WeightFormat | FileType,
  elements: number,
  seed: number,
): Uint8Array<ArrayBuffer> {
  const next = randomSource(seed);
  const half = () => (Math.floor(next() * 2) << 15) | ((11 + Math.floor(next() * 4)) << 10) | Math.floor(next() * 1024);
  if (format === 'f32' || format === 'F32')
    return new Uint8Array(Float32Array.from({ length: elements }, () => 2 * next() - 1).buffer);
  if (format === 'f16' || format === 'F16') return new Uint8Array(Uint16Array.from({ length: elements }, half).buffer);
  if (format === 'bf16' || format === 'BF16') {
    const floats = new Uint32Array(Float32Array.from({ length: elements }, () => 2 * next() - 1).buffer);
    return new Uint8Array(Uint16Array.from(floats, (bits) => bits >>> 16).buffer);
  }
  const stored = isFormat(format) ? STORED[format] : format;
  const { blockElements, blockBytes } = FILE_TYPES[stored];
  const bytes = Uint8Array.from({ length: (elements / blockElements) * blockBytes }, () => Math.floor(next() * 256));
  const view = new DataView(bytes.buffer);
  // Small integers multiply the scales of K-quants.
  const exponent = blockElements === 256 ? 0x0800 : 0x1800;
  for (let at = 0; at < bytes.length; at += blockBytes) {
    for (const half of HALVES[stored] ?? [0]) view.setUint16(at + half, exponent | Math.floor(next() * 1024), true);
  }
  return bytes;
}

const isFormat = (name: WeightFormat | FileType): name is WeightFormat => name in STORED;
