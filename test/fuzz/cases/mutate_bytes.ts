// Random edits of a binary file.

import { BAD_UTF8, EDGE_LENGTHS } from '../edges';
import type { Random } from '../random';

/** Bytes at the start that take most edits, since headers come first. */
const HEADER = 3000;

type Edit = (random: Random, bytes: Uint8Array, at: number) => Uint8Array;

const EDITS: readonly Edit[] = [
  function flipBit(random, bytes, at) {
    bytes[at] ^= 1 << random.int(8);
    return bytes;
  },
  function setByte(random, bytes, at) {
    bytes[at] = random.pick([0, 1, 0x20, 0x22, 0x2c, 0x5b, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0xff]);
    return bytes;
  },
  function setLength(random, bytes, at) {
    const width = random.pick([4, 8]);
    const value = random.pick(EDGE_LENGTHS);
    for (let i = 0; i < width && at + i < bytes.length; i++) bytes[at + i] = Number((value >> BigInt(8 * i)) & 0xffn);
    return bytes;
  },
  function truncate(_, bytes, at) {
    return bytes.subarray(0, at);
  },
  function remove(random, bytes, at) {
    return join(bytes.subarray(0, at), bytes.subarray(at + 1 + random.int(16)));
  },
  function insert(random, bytes, at) {
    const fresh = random.chance(0.3) ? random.pick(BAD_UTF8) : random.bytes(1 + random.int(16));
    return join(bytes.subarray(0, at), fresh, bytes.subarray(at));
  },
  function splice(random, bytes, at) {
    const from = random.int(bytes.length);
    const piece = bytes.slice(from, from + 1 + random.int(64));
    return join(bytes.subarray(0, at), piece, bytes.subarray(at + (random.chance(0.5) ? piece.length : 0)));
  },
  function append(random, bytes) {
    return join(bytes, random.bytes(1 + random.int(64)));
  },
];

/** A copy with one to three edits, most of them in the header. */
export function mutateBytes(random: Random, file: Uint8Array): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array = file.slice();
  for (let n = 1 + random.int(3); n > 0; n--) {
    const at = random.int(random.chance(0.8) ? Math.min(bytes.length, HEADER) : bytes.length);
    bytes = random.pick(EDITS)(random, bytes, at);
  }
  return bytes.slice();
}

export function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
