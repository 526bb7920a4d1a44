// How the types of a file become the formats of the kernels, each without loss. Sizes: ggml-common.h, block_q4_0 and so
// on.

import affine from '../../../shaders/load/repack_affine.wgsl?raw';
import copy from '../../../shaders/load/repack_copy.wgsl?raw';
import q2K from '../../../shaders/load/repack_q2_k.wgsl?raw';
import q6K from '../../../shaders/load/repack_q6_k.wgsl?raw';
import toQ8 from '../../../shaders/load/repack_to_q8.wgsl?raw';
import spreadBits from '../../../shaders/load/spread_bits.wgsl?raw';
import type { Constant } from '../../gpu/kernel';
import type { WeightFormat } from '../linear/weight_format';

export type FileType =
  | 'F32'
  | 'F16'
  | 'BF16'
  | 'Q8_0'
  | 'Q4_0'
  | 'Q4_1'
  | 'Q5_0'
  | 'Q5_1'
  | 'Q2_K'
  | 'Q3_K'
  | 'Q4_K'
  | 'Q5_K'
  | 'Q6_K'
  | 'IQ4_NL';

interface FileFormat {
  format: WeightFormat;
  /** Values in `blockBytes`: 32 or 256. */
  blockElements: number;
  blockBytes: number;
  /** Defines move_block of repack. */
  wgsl: readonly string[];
  constants: Readonly<Record<string, Constant>>;
}

const copied = (format: WeightFormat, payloadWords: number, scaled: boolean): FileFormat => ({
  format,
  blockElements: 32,
  blockBytes: 4 * payloadWords + (scaled ? 2 : 0),
  wgsl: [copy],
  constants: { PAYLOAD_WORDS: payloadWords, SCALED: scaled },
});

const made = (
  format: WeightFormat,
  blockElements: 32 | 256,
  blockBytes: number,
  wgsl: readonly string[],
  constants: FileFormat['constants'] = {},
): FileFormat => ({ format, blockElements, blockBytes, wgsl, constants });

export const FILE_TYPES: Record<FileType, FileFormat> = {
  F32: copied('f32', 32, false),
  F16: copied('f16', 16, false),
  BF16: copied('bf16', 16, false),
  Q8_0: copied('q8', 8, true),
  Q4_0: copied('q4', 4, true),
  Q4_1: made('q4_1', 32, 20, [spreadBits, affine], { K: false, FIVE_BITS: false }),
  Q5_0: made('q8', 32, 22, [spreadBits, toQ8], { FIVE_BITS: true }),
  Q5_1: made('q5_1', 32, 24, [spreadBits, affine], { K: false, FIVE_BITS: true }),
  Q2_K: made('q2_k', 256, 84, [q2K]),
  Q3_K: made('q6_k', 256, 110, [q6K], { THREE_BITS: true }),
  Q4_K: made('q4_k', 256, 144, [spreadBits, affine], { K: true, FIVE_BITS: false }),
  Q5_K: made('q5_k', 256, 176, [spreadBits, affine], { K: true, FIVE_BITS: true }),
  Q6_K: made('q6_k', 256, 210, [q6K], { THREE_BITS: false }),
  IQ4_NL: made('q8', 32, 18, [spreadBits, toQ8], { FIVE_BITS: false }),
};

/** Bytes of one row as it lies in a file. */
export function fileRowBytes(type: FileType, cols: number): number {
  const { blockElements, blockBytes } = FILE_TYPES[type];
  return (cols / blockElements) * blockBytes;
}

/** The formats that a load can quantize a matrix to. */
export type QuantizedFormat = Extract<WeightFormat, 'q8' | 'q4'>;
/** The formats that it can quantize from. */
export type PlainFormat = Extract<WeightFormat, 'f32' | 'f16' | 'bf16'>;

export function isPlain(format: WeightFormat): format is PlainFormat {
  return format === 'f32' || format === 'f16' || format === 'bf16';
}
