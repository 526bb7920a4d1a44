// The key-value section of a GGUF header.

import { type GgufReader, keyName } from './gguf_reader';

/** An array of numbers in the file's number type. */
type GgufNumbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

/**
 * A metadata value. 64-bit integers are numbers up to 2^53 and bigints above. Arrays of strings are string[], of
 * booleans boolean[], of 64-bit integers (number | bigint)[], and of other numbers a typed array.
 */
export type GgufValue = number | bigint | boolean | string | GgufValue[] | GgufNumbers;

const MAX_KEYS = 65_536;
const MAX_KEY_BYTES = 65_536;
const MIN_KEY_BYTES = 8 + 1 + 4 + 1; // key length, key, type, the smallest value
/**
 * Most array elements that cost an object each, such as strings. The 262,144 tokens and 580,604 merges of Gemma 3 take
 * two thirds.
 */
const MAX_BOXED_ELEMENTS = 1.25 * 1024 * 1024;

// Value types of the metadata. Source: ggml/include/gguf.h, enum gguf_type.
const UINT32 = 4;
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

interface NumberType {
  bytes: number;
  get: (view: DataView, at: number) => number | bigint;
  /** Wraps a buffer of little-endian numbers. Absent for 64-bit integers. */
  array?: (buffer: ArrayBuffer) => GgufNumbers;
}

/** A 64-bit integer as a number if exact. */
function narrowed(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const NUMBER_TYPES: ReadonlyMap<number, NumberType> = new Map<number, NumberType>([
  [0, { bytes: 1, get: (v, at) => v.getUint8(at), array: (b) => new Uint8Array(b) }],
  [1, { bytes: 1, get: (v, at) => v.getInt8(at), array: (b) => new Int8Array(b) }],
  [2, { bytes: 2, get: (v, at) => v.getUint16(at, true), array: (b) => new Uint16Array(b) }],
  [3, { bytes: 2, get: (v, at) => v.getInt16(at, true), array: (b) => new Int16Array(b) }],
  [UINT32, { bytes: 4, get: (v, at) => v.getUint32(at, true), array: (b) => new Uint32Array(b) }],
  [5, { bytes: 4, get: (v, at) => v.getInt32(at, true), array: (b) => new Int32Array(b) }],
  [6, { bytes: 4, get: (v, at) => v.getFloat32(at, true), array: (b) => new Float32Array(b) }],
  [10, { bytes: 8, get: (v, at) => narrowed(v.getBigUint64(at, true)) }],
  [11, { bytes: 8, get: (v, at) => narrowed(v.getBigInt64(at, true)) }],
  [12, { bytes: 8, get: (v, at) => v.getFloat64(at, true), array: (b) => new Float64Array(b) }],
]);

/** Remaining strings, booleans and bigints, over the whole header. */
interface Budget {
  boxedElements: number;
}

/** Reads the key-value section of a GGUF header. Keys are unique and not empty. @throws ModelFileError */
export async function readMetadata(reader: GgufReader, nKeys: number): Promise<Map<string, GgufValue>> {
  if (nKeys > MAX_KEYS) throw reader.error(`announces ${nKeys} keys; at most ${MAX_KEYS} are accepted`);
  if (nKeys * MIN_KEY_BYTES > reader.bytesLeft) {
    throw reader.error(`is truncated: it announces ${nKeys} keys, but only ${reader.bytesLeft} bytes follow`);
  }
  const metadata = new Map<string, GgufValue>();
  const budget: Budget = { boxedElements: MAX_BOXED_ELEMENTS };
  for (let i = 0; i < nKeys; i++) {
    const key = await reader.string(`the name of key ${i}`, MAX_KEY_BYTES);
    if (key === '') throw reader.error(`the name of key ${i} is empty`);
    if (metadata.has(key)) throw reader.error(`${keyName(key)} appears twice`);
    await reader.ensure(4, keyName(key));
    const type = reader.u32();
    if (key === 'general.alignment' && type !== UINT32) {
      throw reader.error(`general.alignment has value type ${type}; it must be a u32`);
    }
    metadata.set(key, type === ARRAY ? await readArray(reader, key, budget) : await readScalar(reader, key, type));
  }
  return metadata;
}

async function readScalar(reader: GgufReader, key: string, type: number): Promise<GgufValue> {
  if (type === STRING) return reader.string(`the value of ${keyName(key)}`);
  if (type === BOOL) {
    await reader.ensure(1, keyName(key));
    return readBool(reader, key);
  }
  const number = numberType(reader, key, type);
  await reader.ensure(number.bytes, keyName(key));
  return reader.take(number.bytes, number.get);
}

async function readArray(reader: GgufReader, key: string, budget: Budget): Promise<GgufValue> {
  const what = keyName(key);
  await reader.ensure(12, what);
  const type = reader.u32();
  const count = reader.u64(`the element count of ${what}`);
  if (type === ARRAY) throw reader.error(`${what} is an array of arrays, which no GGUF reader accepts`);
  const isNumber = type !== STRING && type !== BOOL;
  const minBytes = isNumber ? numberType(reader, key, type).bytes : type === STRING ? 8 : 1;
  if (count * minBytes > reader.bytesLeft) {
    throw reader.error(`is truncated: ${what} announces ${count} elements, but only ${reader.bytesLeft} bytes follow`);
  }
  const typed = isNumber ? numberType(reader, key, type).array : undefined;
  if (typed) return typed((await reader.bytes(count * minBytes, what)).buffer);
  budget.boxedElements -= count;
  if (budget.boxedElements < 0) {
    throw reader.error(`${what} has ${count} elements; at most ${MAX_BOXED_ELEMENTS} are accepted in all`);
  }
  if (type === STRING) return reader.strings(count, what);
  await reader.ensure(count * minBytes, what);
  if (type === BOOL) return Array.from({ length: count }, () => readBool(reader, key));
  const { bytes, get } = numberType(reader, key, type);
  return Array.from({ length: count }, () => reader.take(bytes, get));
}

function readBool(reader: GgufReader, key: string): boolean {
  const byte = reader.take(1, (view, at) => view.getUint8(at));
  if (byte > 1) throw reader.error(`${keyName(key)} is a boolean of value ${byte}; it must be 0 or 1`);
  return byte === 1;
}

function numberType(reader: GgufReader, key: string, type: number): NumberType {
  const number = NUMBER_TYPES.get(type);
  if (!number) throw reader.error(`${keyName(key)} has the unknown value type ${type}`);
  return number;
}
