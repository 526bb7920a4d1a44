// The strict parser of GGUF headers.

import { UnsupportedModelError } from '../../errors';
import { quoted } from '../checks/bounds';
import type { ByteSource } from '../source/byte_source';
import { ggmlTypeName, SUPPORTED_GGML_TYPES } from './ggml_types';
import { type GgufValue, readMetadata } from './gguf_metadata';
import { GgufReader } from './gguf_reader';
import { type TensorDtype, type TensorInfo, tensorAt, tensorBytes } from './tensor';

export type { GgufValue };

const MAGIC = 0x46554747; // "GGUF", little-endian
const MAX_TENSORS = 65_536;
const MAX_NAME_BYTES = 63; // ggml.h: GGML_MAX_NAME is 64 with the closing zero
const MAX_DIMS = 4;
const MIN_TENSOR_BYTES = 8 + 1 + 4 + 8 + 4 + 8; // name length, name, n_dims, one dim, type, offset
const DEFAULT_ALIGNMENT = 32;
const MAX_ALIGNMENT = 1024 * 1024;

interface Placed {
  name: string;
  dtype: TensorDtype;
  shape: number[];
  offset: number; // from the start of the data section
  byteLength: number;
}

/**
 * Parses a GGUF header, version 2 or 3: magic, version, counts, metadata, tensor infos, padding, data. Tensors in file
 * order. The header is read in chunks and never assumed to fit one. Source: ggml/docs/gguf.md and the checks of
 * ggml/src/gguf.cpp.
 * @throws ModelFileError for malformed, out-of-range, overlapping or truncated contents
 * @throws UnsupportedModelError for another version, byte order or tensor type
 */
export async function parseGguf(
  source: ByteSource,
): Promise<{ metadata: Map<string, GgufValue>; tensors: TensorInfo[] }> {
  const reader = new GgufReader(source);
  const { nTensors, nKeys } = await readCounts(reader);
  const metadata = await readMetadata(reader, nKeys);
  const alignment = alignmentOf(reader, metadata);
  const placed = await readTensorInfos(reader, nTensors, alignment);
  const dataStart = Math.ceil(reader.position / alignment) * alignment;
  return { metadata, tensors: placeTensors(source, reader, placed, dataStart) };
}

async function readCounts(reader: GgufReader): Promise<{ nTensors: number; nKeys: number }> {
  await reader.ensure(4, 'the magic number');
  if (reader.u32() !== MAGIC) throw reader.error('does not begin with "GGUF", so it is no GGUF file');
  await reader.ensure(4, 'the version');
  const version = reader.u32();
  if (version !== 2 && version !== 3) {
    const why = (version & 0xffff) === 0 && version !== 0 ? 'big-endian' : `of version ${version}`;
    throw new UnsupportedModelError(`${reader.file} is a GGUF file ${why}. Convert it to version 3, little-endian.`);
  }
  await reader.ensure(16, 'the counts');
  const nTensors = reader.u64('the number of tensors');
  const nKeys = reader.u64('the number of keys');
  if (nTensors > MAX_TENSORS) throw reader.error(`announces ${nTensors} tensors; at most ${MAX_TENSORS} are accepted`);
  if (nTensors * MIN_TENSOR_BYTES > reader.bytesLeft) {
    throw reader.error(`is truncated: it announces ${nTensors} tensors, but only ${reader.bytesLeft} bytes follow`);
  }
  return { nTensors, nKeys };
}

/** The alignment from general.alignment, already checked to be a u32. */
function alignmentOf(reader: GgufReader, metadata: Map<string, GgufValue>): number {
  const value = metadata.get('general.alignment') ?? DEFAULT_ALIGNMENT;
  if (typeof value !== 'number' || value < 1 || value > MAX_ALIGNMENT || (value & (value - 1)) !== 0) {
    throw reader.error(`general.alignment is ${String(value)}; it must be a power of two up to ${MAX_ALIGNMENT}`);
  }
  return value;
}

async function readTensorInfos(reader: GgufReader, count: number, alignment: number): Promise<Placed[]> {
  const names = new Set<string>();
  const placed: Placed[] = [];
  for (let i = 0; i < count; i++) {
    const tensor = await readTensorInfo(reader, `the name of tensor ${i}`);
    if (names.has(tensor.name)) throw reader.error(`tensor ${quoted(tensor.name)} appears twice`);
    names.add(tensor.name);
    if (tensor.offset % alignment !== 0) {
      throw reader.error(
        `tensor ${quoted(tensor.name)} is at offset ${tensor.offset}, which is no multiple of the alignment ${alignment}`,
      );
    }
    placed.push(tensor);
  }
  return placed;
}

async function readTensorInfo(reader: GgufReader, ordinal: string): Promise<Placed> {
  const name = await reader.string(ordinal, MAX_NAME_BYTES);
  if (name === '') throw reader.error(`${ordinal} is empty`);
  const what = `tensor ${quoted(name)}`;
  await reader.ensure(4, what);
  const nDims = reader.u32();
  if (nDims < 1 || nDims > MAX_DIMS)
    throw reader.error(`${what} has ${nDims} dimensions; 1 to ${MAX_DIMS} are allowed`);
  await reader.ensure(nDims * 8 + 4 + 8, what);
  const ne: number[] = []; // innermost first, as ggml counts
  for (let d = 0; d < nDims; d++) {
    const size = reader.u64(`a dimension of ${what}`);
    if (size === 0) throw reader.error(`${what} has a dimension of 0`);
    ne.push(size);
  }
  const type = reader.u32();
  const dtype = SUPPORTED_GGML_TYPES.get(type);
  if (dtype === undefined) {
    const supported = [...SUPPORTED_GGML_TYPES.values()].join(', ');
    throw new UnsupportedModelError(
      `${reader.file}: ${what} is stored as ${ggmlTypeName(type)}, which is not supported. Use a file in one of ${supported}.`,
    );
  }
  const offset = reader.u64(`the offset of ${what}`);
  const shape = ne.reverse();
  return { name, dtype, shape, offset, byteLength: tensorBytes(reader.file, name, dtype, shape) };
}

/** Sorts by offset. Checks that no two tensors overlap and that the last one ends within the file. */
function placeTensors(source: ByteSource, reader: GgufReader, placed: Placed[], dataStart: number): TensorInfo[] {
  let previousEnd = 0;
  return placed
    .sort((a, b) => a.offset - b.offset)
    .map(({ name, dtype, shape, offset, byteLength }) => {
      if (offset < previousEnd) {
        throw reader.error(
          `tensor ${quoted(name)} begins at offset ${offset}, inside the tensor before it, which ends at ${previousEnd}`,
        );
      }
      previousEnd = offset + byteLength;
      // A sum past 2^53 is rounded, but still far larger than any file.
      if (dataStart + previousEnd > source.size) {
        throw reader.error(
          `is truncated: tensor ${quoted(name)} ends at byte ${dataStart + previousEnd}, the file has ${source.size}`,
        );
      }
      return tensorAt(source, name, dtype, shape, dataStart + offset, byteLength);
    });
}
