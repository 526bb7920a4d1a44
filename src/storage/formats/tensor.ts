// One tensor of a model file: type, shape, place.

import { ModelFileError } from '../../errors';
import { checkRange, quoted } from '../checks/bounds';
import type { ByteSource } from '../source/byte_source';

/** Storage type of a tensor's elements. Names with a Q are ggml's blocks of 32 elements, those with a K of 256. */
export type TensorDtype =
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

/** Elements and bytes of one block; plain numbers are blocks of one. Source: ggml-common.h, block_q8_0 and so on. */
export const DTYPE: Record<TensorDtype, { blockElements: number; blockBytes: number }> = {
  F32: { blockElements: 1, blockBytes: 4 },
  F16: { blockElements: 1, blockBytes: 2 },
  BF16: { blockElements: 1, blockBytes: 2 },
  Q8_0: { blockElements: 32, blockBytes: 34 },
  Q4_0: { blockElements: 32, blockBytes: 18 },
  Q4_1: { blockElements: 32, blockBytes: 20 },
  Q5_0: { blockElements: 32, blockBytes: 22 },
  Q5_1: { blockElements: 32, blockBytes: 24 },
  Q2_K: { blockElements: 256, blockBytes: 84 },
  Q3_K: { blockElements: 256, blockBytes: 110 },
  Q4_K: { blockElements: 256, blockBytes: 144 },
  Q5_K: { blockElements: 256, blockBytes: 176 },
  Q6_K: { blockElements: 256, blockBytes: 210 },
  IQ4_NL: { blockElements: 32, blockBytes: 18 },
};

/** One tensor of a model file. Its offset and length have been checked against the file. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: TensorDtype;
  /** Row-major, outermost dimension first: (rows, columns) of a matrix. The reverse of a GGUF's ne. */
  readonly shape: readonly number[];
  readonly byteLength: number;
  /** Reads as ByteSource.read, from byte `offset` of the tensor on. */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
}

/**
 * Size in bytes of a tensor with this shape.
 * @throws ModelFileError past 2^53 elements or bytes, or if the innermost dimension is no multiple of the block
 */
export function tensorBytes(file: string, name: string, dtype: TensorDtype, shape: readonly number[]): number {
  const { blockElements, blockBytes } = DTYPE[dtype];
  let elements = 1;
  for (const dim of shape) {
    elements *= dim;
    // A safe product of safe integers is exact, so checking after each step misses nothing.
    if (!Number.isSafeInteger(elements)) {
      throw new ModelFileError(file, `tensor ${quoted(name)} has shape (${shape.join(', ')}): too many elements.`);
    }
  }
  const innermost = shape.at(-1) ?? 1;
  if (innermost % blockElements !== 0) {
    throw new ModelFileError(
      file,
      `tensor ${quoted(name)} is ${dtype}, but its rows of ${innermost} are no multiple of ${blockElements}.`,
    );
  }
  const bytes = (elements / blockElements) * blockBytes;
  if (!Number.isSafeInteger(bytes)) {
    throw new ModelFileError(file, `tensor ${quoted(name)} would take ${bytes} bytes.`);
  }
  return bytes;
}

/** A tensor whose bytes begin at byte `start` of `source`. */
export function tensorAt(
  source: ByteSource,
  name: string,
  dtype: TensorDtype,
  shape: readonly number[],
  start: number,
  byteLength: number,
): TensorInfo {
  return {
    name,
    dtype,
    shape,
    byteLength,
    async read(offset, length, into) {
      checkRange(`${source.name}, tensor ${quoted(name)}`, byteLength, offset, length);
      return source.read(start + offset, length, into);
    },
  };
}
