// Files of many megabytes, generated while they are read. Small files cannot claim much, since no claim may pass the
// file's end.

import { parseGguf } from '../../../src/storage/formats/gguf';
import { parseSafetensors } from '../../../src/storage/formats/safetensors';
import { blobSource } from '../../../src/storage/source/blob_source';
import type { ByteSource } from '../../../src/storage/source/byte_source';
import { Bytes, T, value, writeGguf } from '../../storage/write_gguf';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { readJson } from './json_cases';
import { join } from './mutate_bytes';

const MEGABYTE = 2 ** 20;
const SIZES = [1, 4, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65].map((n) => n * MEGABYTE);

/** `before`, then `count` times `piece`, then `after`; or an object with `count` keys. */
type TextInput = { before: string; piece: string; count: number; after: string } | { keys: number; metadata: boolean };

type LargeInput =
  | { kind: 'json'; text: TextInput; uniqueKeys: boolean }
  | { kind: 'safetensors'; text: TextInput }
  | { kind: 'gguf'; type: number; element: Uint8Array; elements: number };

export const largeLoader: Loader<LargeInput> = {
  name: 'large',
  makeInput: (random) => random.pick([safetensorsInput, ggufInput, jsonInput])(random),
  prepare(input) {
    if (input.kind === 'gguf') return ggufCase(input);
    const bytes = jsonText(input.text);
    if (input.kind === 'json') return () => readJson(bytes, input.uniqueKeys);
    const prefix = new Bytes().u64(bytes.length).done();
    return () => parseSafetensors(blobSource('x.safetensors', new Blob([prefix, bytes])));
  },
};

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Objects of one repeated piece, which may take many times its bytes when parsed. */
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

/** An object of some megabytes. Every fourth has one key per piece. */
function textInput(random: Random): TextInput {
  const size = random.pick(SIZES);
  if (random.chance(0.25))
    return { keys: Math.floor(Math.min(size, 32 * MEGABYTE) / 14), metadata: random.chance(0.5) };
  const [before, piece, after] = random.pick(JSON_PIECES);
  return { before, piece, count: Math.floor(size / utf8(piece).length), after };
}

function jsonText(text: TextInput): Uint8Array<ArrayBuffer> {
  if ('keys' in text) {
    const pairs = Array.from({ length: text.keys }, (_, i) => `"k${i}":${i % 10}`);
    return utf8(`{${text.metadata ? '"__metadata__":{' : ''}${pairs.join(',')}}}`);
  }
  const piece = utf8(text.piece);
  return join(utf8(text.before), fill(new Uint8Array(piece.length * text.count), piece), utf8(text.after));
}

function jsonInput(random: Random): LargeInput {
  return { kind: 'json', text: textInput(random), uniqueKeys: random.chance(0.3) };
}

function safetensorsInput(random: Random): LargeInput {
  return { kind: 'safetensors', text: textInput(random) };
}

/** One key with a long text, or with a list of many elements of any type. */
function ggufInput(random: Random): LargeInput {
  const size = random.pick(SIZES);
  const type = random.pick([T.u8, T.u32, T.f64, T.u64, T.bool, T.string, T.string, T.string]);
  const element =
    type === T.string ? stringOf(random) : new Uint8Array({ [T.u32]: 4, [T.f64]: 8, [T.u64]: 8 }[type as 4] ?? 1);
  return { kind: 'gguf', type, element, elements: Math.floor(size / element.length) };
}

function ggufCase({ type, element, elements }: LargeInput & { kind: 'gguf' }) {
  const before = writeGguf({ keys: [['k', value.array(type, elements, [])]] });
  return async () => (await parseGguf(repeated(before, element, elements))).metadata.size;
}

function stringOf(random: Random): Uint8Array {
  return new Bytes()
    .string(random.pick(['', 'a', '\u2581', 'Ġtoken', 'x'.repeat(100), 'é'.repeat(1000), 'x'.repeat(2 ** 23)]))
    .done();
}

/** `before`, then `count` times `piece`, in memory only while being read. */
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
