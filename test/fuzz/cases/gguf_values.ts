// Metadata values written as GGUF keys.

import { type Bytes, value } from '../../storage/write_gguf';

export type GgufKeys = [key: string | Uint8Array, write: (out: Bytes) => void][];

/** Test metadata as the keys of a file. */
export function keysOf(metadata: ReadonlyMap<string, unknown>): GgufKeys {
  return [...metadata].flatMap(([key, inner]) =>
    inner === undefined ? [] : [[key, writerOf(inner)] as GgufKeys[number]],
  );
}

function writerOf(inner: unknown): (out: Bytes) => void {
  if (typeof inner === 'string') return value.string(inner);
  if (typeof inner === 'boolean') return value.bool(Number(inner));
  if (typeof inner === 'bigint') return value.u64(inner);
  if (typeof inner === 'number') return Number.isInteger(inner) && inner >= 0 ? value.u32(inner) : value.f32(inner);
  if (inner instanceof Float32Array) return value.array(6, inner.length, new Uint8Array(inner.buffer));
  if (Array.isArray(inner) && inner.every((text) => typeof text === 'string')) return value.strings(inner);
  const numbers = Int32Array.from(inner as ArrayLike<number>);
  return value.array(5, numbers.length, new Uint8Array(numbers.buffer));
}
