// The strict parser of safetensors headers.

import { ModelFileError, UnsupportedModelError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { quoted } from '../checks/bounds';
import { decodeUtf8, parseJsonObject } from '../checks/json';
import type { ByteSource } from '../source/byte_source';
import { DTYPE, type TensorDtype, type TensorInfo, tensorAt, tensorBytes } from './tensor';

export { DTYPE };

/**
 * Largest accepted header. The reference accepts 100 MB; a mixture of experts with 36,000 tensors in one file needs 5
 * MB.
 */
const MAX_HEADER_BYTES = 32 * 1024 * 1024;
const MAX_DIMS = 8;
const OPEN_BRACE = 0x7b;
/** Supported dtypes of safetensors. Others of the format: I64, F8_E4M3, BOOL and more. */
const SUPPORTED: ReadonlySet<string> = new Set<TensorDtype>(['F32', 'F16', 'BF16']);

interface Entry {
  name: string;
  dtype: string;
  shape: number[];
  begin: number;
  end: number;
}

/**
 * Parses the header of a .safetensors file: u64 header length, JSON header, then tensors without gaps. Tensors in file
 * order. Rules: the reference parser (safetensors/src/tensor.rs, `SafeTensors::read_metadata` and `validate`).
 * @throws ModelFileError if the header is malformed or contradicts the data
 * @throws UnsupportedModelError for an unsupported dtype
 */
export async function parseSafetensors(source: ByteSource): Promise<TensorInfo[]> {
  const file = source.name;
  const headerBytes = await readHeaderLength(source);
  const header = await source.read(8, headerBytes);
  if (header[0] !== OPEN_BRACE) throw new ModelFileError(file, 'its header does not begin with "{".');
  const json = parseJsonObject(file, decodeUtf8(file, 'its header', header), { uniqueKeys: true });
  return placeTensors(source, 8 + headerBytes, readEntries(file, json));
}

async function readHeaderLength(source: ByteSource): Promise<number> {
  const { name: file, size } = source;
  if (size < 8) throw new ModelFileError(file, `has ${size} bytes; a safetensors file has at least 8. Fetch it again.`);
  const prefix = await source.read(0, 8);
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES) {
    throw new ModelFileError(file, `announces a header of ${length} bytes; at most ${MAX_HEADER_BYTES} are accepted.`);
  }
  if (8 + Number(length) > size) {
    throw new ModelFileError(
      file,
      `is truncated: its header ends at byte ${8 + Number(length)}, the file has ${size}. Fetch it again.`,
    );
  }
  return Number(length);
}

function readEntries(file: string, json: JsonObject): Entry[] {
  const entries: Entry[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (name === '__metadata__') checkMetadata(file, value);
    else entries.push(readEntry(file, name, value));
  }
  // An empty tensor begins where the next one does; the end breaks the tie.
  return entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
}

function checkMetadata(file: string, value: unknown): void {
  if (!isJsonObject(value) || Object.values(value).some((text) => typeof text !== 'string')) {
    throw new ModelFileError(file, '"__metadata__" must map strings to strings.');
  }
}

function readEntry(file: string, name: string, value: unknown): Entry {
  const bad = (why: string) => new ModelFileError(file, `tensor ${quoted(name)} ${why}.`);
  if (!isJsonObject(value)) throw bad('is not described by an object');
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== 'string') throw bad('has no dtype');
  if (!isSizes(shape)) throw bad('has a shape that is no list of sizes');
  if (shape.length > MAX_DIMS) throw bad(`has ${shape.length} dimensions; at most ${MAX_DIMS} are accepted`);
  if (!isSizes(offsets) || offsets.length !== 2) throw bad('has data_offsets that are no two byte positions');
  const [begin, end] = offsets;
  if (begin > end) throw bad(`ends at byte ${end}, before it begins at ${begin}`);
  return { name, dtype, shape, begin, end };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);
}

/** Checks that the sorted entries fill the data exactly: no gap, no overlap, the last one ends with the file. */
function placeTensors(source: ByteSource, dataStart: number, entries: Entry[]): TensorInfo[] {
  const file = source.name;
  const dataBytes = source.size - dataStart;
  let previousEnd = 0;
  const tensors = entries.map(({ name, dtype, shape, begin, end }) => {
    if (begin !== previousEnd) {
      const what = begin < previousEnd ? 'overlaps the tensor before it' : 'leaves a hole before it';
      throw new ModelFileError(
        file,
        `tensor ${quoted(name)} ${what}: it begins at ${begin}, the data so far ends at ${previousEnd}.`,
      );
    }
    previousEnd = end;
    if (!isSupported(dtype)) {
      throw new UnsupportedModelError(
        `${file}: tensor ${quoted(name)} has dtype ${quoted(dtype)}, which is not supported. Use a model in BF16, F16 or F32.`,
      );
    }
    const bytes = tensorBytes(file, name, dtype, shape);
    if (end - begin !== bytes) {
      throw new ModelFileError(
        file,
        `tensor ${quoted(name)} is ${dtype} (${shape.join(', ')}) and takes ${bytes} bytes, but the header gives it ${end - begin}.`,
      );
    }
    if (end > dataBytes) {
      throw new ModelFileError(
        file,
        `is truncated: tensor ${quoted(name)} ends at byte ${dataStart + end}, the file has ${source.size}. Fetch it again.`,
      );
    }
    return tensorAt(source, name, dtype, shape, dataStart + begin, bytes);
  });
  if (previousEnd !== dataBytes) {
    throw new ModelFileError(
      file,
      `its tensors end at byte ${dataStart + previousEnd}, but the file has ${source.size}. Fetch it again.`,
    );
  }
  return tensors;
}

function isSupported(dtype: string): dtype is TensorDtype {
  return SUPPORTED.has(dtype);
}
