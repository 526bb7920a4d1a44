// Splits a GGUF file into parts like llama-gguf-split, for tests.

import { Bytes, T } from './write_gguf';

interface Header {
  /** The metadata section without the count. */
  keys: Uint8Array;
  nKeys: number;
  tensors: { info: Uint8Array; offset: number }[];
  dataStart: number;
}

const WIDTH = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const ALIGNMENT = 32;

/** The parts by name, the first with all metadata. Each holds consecutive tensors. */
export function splitGguf(file: Uint8Array, stem: string, count: number): Record<string, Uint8Array> {
  const { keys, nKeys, tensors, dataStart } = readHeader(file);
  const parts: Record<string, Uint8Array> = {};
  const each = Math.ceil(tensors.length / count);
  for (let no = 0; no < count; no++) {
    const own = tensors.slice(no * each, (no + 1) * each);
    const base = own[0].offset;
    const end = tensors[(no + 1) * each]?.offset ?? file.length - dataStart;
    const out = new Bytes().raw(new TextEncoder().encode('GGUF')).u32(3);
    out.u64(own.length).u64((no === 0 ? nKeys : 0) + 3);
    if (no === 0) out.raw(keys);
    out.string('split.no').u32(T.u16).u16(no);
    out.string('split.count').u32(T.u16).u16(count);
    out.string('split.tensors.count').u32(T.i32).u32(tensors.length);
    for (const { info, offset } of own) out.raw(info).u64(offset - base);
    out.pad(ALIGNMENT).raw(file.subarray(dataStart + base, dataStart + end));
    parts[`${stem}-${digits(no + 1)}-of-${digits(count)}.gguf`] = out.done();
  }
  return parts;
}

function readHeader(file: Uint8Array): Header {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let at = 24;
  const count = (offset: number) => Number(view.getBigUint64(offset, true));
  const skipString = () => {
    at += 8 + count(at);
  };
  const skipValue = (type: number) => {
    if (type === T.string) return skipString();
    if (type !== T.array) {
      at += WIDTH[type];
      return;
    }
    const inner = view.getUint32(at, true);
    const n = count(at + 4);
    at += 12;
    if (inner === T.string) for (let i = 0; i < n; i++) skipString();
    else at += n * WIDTH[inner];
  };
  const nKeys = count(16);
  for (let i = 0; i < nKeys; i++) {
    skipString();
    at += 4;
    skipValue(view.getUint32(at - 4, true));
  }
  const keys = file.subarray(24, at);
  const tensors = Array.from({ length: count(8) }, () => {
    const start = at;
    skipString();
    at += 4 + 8 * view.getUint32(at, true) + 4;
    const info = file.subarray(start, at);
    at += 8;
    return { info, offset: count(at - 8) };
  });
  return { keys, nKeys, tensors, dataStart: Math.ceil(at / ALIGNMENT) * ALIGNMENT };
}

function digits(n: number): string {
  return String(n).padStart(5, '0');
}
