// Files of many megabytes, made as they are read: small ones cannot claim much, since no claim may pass the end of the file.

import { parseGguf } from '../../src/storage/gguf';
import { parseSafetensors } from '../../src/storage/safetensors';
import { type ByteSource, blobSource } from '../../src/storage/source';
import { Bytes, T, value, writeGguf } from '../storage/write_gguf';
import { readJson } from './json_cases';
import type { Loader } from './loaders';
import { join } from './mutate_bytes';
import type { Random } from './random';

const MEGABYTE = 2 ** 20;
const SIZES = [1, 4, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65].map((n) => n * MEGABYTE);

export const largeLoader: Loader = {
  name: 'large',
  makeCase: (random) => random.pick([safetensorsCase, ggufCase, jsonCase])(random),
};

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Objects of one repeated piece; what it becomes may take many times its bytes. */
const JSON_PIECES: readonly [before: string, piece: string, after: string][] = [
  ['{"a":[', '[],', '[]]}'],
  ['{"a":[', '{},', '{}]}'],
  ['{"a":[', '1,', '1]}'],
  ['{"a":[', '0.5,', '0.5]}'],
  ['{"a":[', '"",', '""]}'],
  ['{"a":["\u2581",', '"ab",', '""]}'],
  ['{"a":[', '[[[1]]],', '1]}'],
  ['{"a":"', 'x', '"}'],
  ['{"a":"\u2581', 'x', '"}'],
  ['{"a":"', '\u2581', '"}'],
  ['{"a":"', '\\u0061', '"}'],
  ['{"', 'x', '":1}'],
  ['{', ' ', '}'],
  ['{', '"a":1,', '"a":1}'],
  ['{"a":', '[', ''],
  ['', '\\"', ''],
];

/** An object of `size` bytes and a little. Every fourth has a key for each piece. */
function jsonText(random: Random, size: number): Uint8Array<ArrayBuffer> {
  if (random.chance(0.25)) {
    const pieces: string[] = [];
    for (let length = 0, i = 0; length < Math.min(size, 32 * MEGABYTE); i++)
      length += pieces.push(`"k${i}":${i % 10}`) && 14;
    return utf8(`{${random.chance(0.5) ? '"__metadata__":{' : ''}${pieces.join(',')}}}`);
  }
  const [before, piece, after] = random.pick(JSON_PIECES);
  const bytes = utf8(piece);
  const middle = fill(new Uint8Array(bytes.length * Math.floor(size / bytes.length)), bytes);
  return join(utf8(before), middle, utf8(after));
}

function jsonCase(random: Random) {
  const bytes = jsonText(random, random.pick(SIZES));
  const uniqueKeys = random.chance(0.3);
  return () => readJson(bytes, uniqueKeys);
}

function safetensorsCase(random: Random) {
  const header = jsonText(random, random.pick(SIZES));
  const prefix = new Bytes().u64(header.length).done();
  return () => parseSafetensors(blobSource('x.safetensors', new Blob([prefix, header])));
}

/** One key that is a long text, or a list of many elements of any type. */
function ggufCase(random: Random) {
  const size = random.pick(SIZES);
  const type = random.pick([T.u8, T.u32, T.f64, T.u64, T.bool, T.string, T.string, T.string]);
  const element =
    type === T.string ? stringOf(random) : new Uint8Array({ [T.u32]: 4, [T.f64]: 8, [T.u64]: 8 }[type as 4] ?? 1);
  const elements = Math.floor(size / element.length);
  const before = writeGguf({ keys: [['k', value.array(type, elements, [])]] });
  return async () => (await parseGguf(repeated(before, element, elements))).metadata.size;
}

function stringOf(random: Random): Uint8Array {
  return new Bytes()
    .string(random.pick(['', 'a', '\u2581', 'Ġtoken', 'x'.repeat(100), 'é'.repeat(1000), 'x'.repeat(2 ** 23)]))
    .done();
}

/** `before`, then `count` times `piece`; only what is read is ever there. */
function repeated(before: Uint8Array, piece: Uint8Array, count: number): ByteSource {
  const tile = fill(new Uint8Array(piece.length * Math.ceil((4 * MEGABYTE) / piece.length)), piece);
  return {
    name: 'x.gguf',
    size: before.length + count * piece.length,
    async read(offset, length) {
      const bytes = new Uint8Array(length);
      const head = before.subarray(offset, offset + length);
      bytes.set(head);
      for (let done = head.length; done < length; ) {
        const at = (offset + done - before.length) % piece.length;
        const part = tile.subarray(at, at + length - done);
        bytes.set(part, done);
        done += part.length;
      }
      return bytes;
    },
  };
}

/** Fills `bytes`, whose length is a multiple of the piece's, with the piece. */
function fill(bytes: Uint8Array<ArrayBuffer>, piece: Uint8Array): Uint8Array<ArrayBuffer> {
  bytes.set(piece.subarray(0, bytes.length));
  for (let done = piece.length; done < bytes.length; done *= 2) bytes.copyWithin(done, 0, bytes.length - done);
  return bytes;
}
