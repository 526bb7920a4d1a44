import { ModelFileError } from '../errors';
import { checkRange, quoted } from './bounds';
import type { ByteSource } from './source';

/** How a tensor's elements are stored. Q8_0 and Q4_0 are ggml's blocks of 32 elements with one f16 scale in front. */
export type TensorDtype = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_0';

/** Elements and bytes of one block; a plain number is a block of one. Source: ggml-common.h, block_q8_0 and block_q4_0. */
export const DTYPE: Record<TensorDtype, { blockElements: number; blockBytes: number }> = {
  F32: { blockElements: 1, blockBytes: 4 },
  F16: { blockElements: 1, blockBytes: 2 },
  BF16: { blockElements: 1, blockBytes: 2 },
  Q8_0: { blockElements: 32, blockBytes: 34 },
  Q4_0: { blockElements: 32, blockBytes: 18 },
};

/** One tensor of a model file. Its place and length have been checked against the file. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: TensorDtype;
  /** Row-major, outermost dimension first: (rows, columns) of a matrix. A GGUF's ne reversed. */
  readonly shape: readonly number[];
  readonly byteLength: number;
  /** Exactly `length` bytes from `offset`, both in bytes from the tensor's start. Errors as ByteSource.read. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/**
 * Bytes that a tensor of this shape takes.
 * @throws ModelFileError past 2^53 elements or bytes, or when the innermost dimension is no multiple of the block
 */
export function tensorBytes(file: string, name: string, dtype: TensorDtype, shape: readonly number[]): number {
  const { blockElements, blockBytes } = DTYPE[dtype];
  let elements = 1;
  for (const dim of shape) {
    elements *= dim;
    // A product of safe integers that is itself safe is exact, so checking after each step misses nothing.
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

/** A tensor whose bytes start at `start` of `source`. */
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
    async read(offset, length) {
      checkRange(`${source.name}, tensor ${quoted(name)}`, byteLength, offset, length);
      return source.read(start + offset, length);
    },
  };
}
