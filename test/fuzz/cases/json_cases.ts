// JSON texts: random ones, changed real ones, and bytes that are no text.

import fc from 'fast-check';
import { checkTextSize } from '../../../src/storage/checks/bounds';
import { decodeUtf8, parseJsonObject } from '../../../src/storage/checks/json';
import { NASTY_NAMES } from '../edges';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { mutateBytes } from './mutate_bytes';
import { mutateTree, printTree, treeOf } from './mutate_json';

/** Any UTF-16 units, including halves of characters. */
const texts = fc.array(fc.nat(0xffff), { maxLength: 8 }).map((units) => String.fromCharCode(...units));
const keys = fc.oneof(fc.constantFrom(...NASTY_NAMES), fc.string(), texts);
const values = fc.dictionary(keys, fc.oneof(fc.jsonValue({ maxDepth: 4 }), texts));
const TREE = treeOf({ name: 'x', list: [1, [2, { a: null }]], 'a"b\\': { '\u0061': 1, b: { c: 'd', e: [{}, {}] } } });

export const jsonLoader: Loader<{ file: Uint8Array; uniqueKeys: boolean }> = {
  name: 'json',
  makeInput(random) {
    const text = random.chance(0.3) ? JSON.stringify(random.sample(values)) : printTree(mutateTree(random, TREE));
    const bytes = new TextEncoder().encode(text);
    const file = random.chance(0.3) ? mutateBytes(random, bytes) : bytes;
    return { file, uniqueKeys: random.chance(0.5) };
  },
  prepare({ file, uniqueKeys }) {
    return () => readJson(file, uniqueKeys);
  },
};

/** Reads a JSON file like openModel. */
export function readJson(file: Uint8Array, uniqueKeys = false): Record<string, unknown> {
  checkTextSize('x.json', file.length);
  return parseJsonObject('x.json', decodeUtf8('x.json', 'its text', file), { uniqueKeys });
}

/** A tree as the bytes of a file, sometimes with edits that the tree cannot express. */
export function jsonBytes(random: Random, value: unknown, numbers?: number): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(printTree(mutateTree(random, treeOf(value), numbers)));
  return random.chance(0.05) ? mutateBytes(random, bytes) : bytes;
}
