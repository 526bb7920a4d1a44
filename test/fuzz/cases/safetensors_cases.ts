// Safetensors files: false headers, random lists of entries, wrong lengths, and edits of the bytes.

import { parseSafetensors } from '../../../src/storage/formats/safetensors';
import { blobSource } from '../../../src/storage/source/blob_source';
import { ramp } from '../../storage/write_gguf';
import { withHeader, writeSafetensors } from '../../storage/write_safetensors';
import { EDGE_LENGTHS, EDGE_NUMBERS, NASTY_NAMES } from '../edges';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { readAll } from './gguf_cases';
import { mutateBytes } from './mutate_bytes';
import { mutateTree, printTree, type Tree, treeOf } from './mutate_json';

const HEADER = {
  __metadata__: { format: 'pt', total_size: '34' },
  a: { dtype: 'F32', shape: [2, 3], data_offsets: [0, 24] },
  'b.weight': { dtype: 'BF16', shape: [5], data_offsets: [24, 34] },
  scalar: { dtype: 'F16', shape: [], data_offsets: [34, 36] },
  empty: { dtype: 'F32', shape: [0, 7], data_offsets: [36, 36] },
};
const DATA = ramp(36);
const TREE = treeOf(HEADER);
const VALID = writeSafetensors(
  { a: { dtype: 'F32', shape: [2, 3], data: ramp(24) }, b: { dtype: 'BF16', shape: [5], data: ramp(10) } },
  { format: 'pt' },
);

export const safetensorsLoader: Loader<Uint8Array<ArrayBuffer>> = {
  name: 'safetensors',
  makeInput: (random) => random.pick([treeFile, treeFile, entriesFile, editedFile])(random),
  prepare(file) {
    return async () => readAll(await parseSafetensors(blobSource('x.safetensors', new Blob([file]))));
  },
};

function treeFile(random: Random): Uint8Array<ArrayBuffer> {
  const text = printTree(mutateTree(random, TREE, 0.5));
  const spaces = ' '.repeat(random.pick([0, 0, 0, 1, 7, 1000]));
  return withHeader(text + spaces, random.chance(0.9) ? DATA : DATA.subarray(random.int(36)), lengthOf(random));
}

/** The header length, correct in most cases. */
function lengthOf(random: Random): bigint | undefined {
  return random.chance(0.1) ? random.pick(EDGE_LENGTHS) : undefined;
}

/** Entries that often, but not always, are contiguous and have the size of their shape. */
function entriesFile(random: Random): Uint8Array<ArrayBuffer> {
  const honest = random.chance(0.5);
  const edge = (): Tree => ({ raw: random.pick(EDGE_NUMBERS) });
  let end = 0;
  const entry = (i: number): [string, Tree] => {
    const shape = Array.from({ length: random.int(4) }, () => random.int(5));
    const begin = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    const offsets = [begin, end].map((n) => (honest || random.chance(0.9) ? { raw: String(n) } : edge()));
    const sizes = shape.map((n) => (honest || random.chance(0.9) ? { raw: String(n) } : edge()));
    const name = random.chance(0.2) ? random.pick(NASTY_NAMES) : `t${i}`;
    const dtype = honest || random.chance(0.8) ? 'F32' : random.pick(['F16', 'I64', 'F8_E4M3', '__proto__', 'f32', '']);
    return [
      JSON.stringify(name),
      {
        map: [
          ['"dtype"', { raw: JSON.stringify(dtype) }],
          ['"shape"', { list: sizes }],
          ['"data_offsets"', { list: offsets }],
        ],
      },
    ];
  };
  const map = Array.from({ length: random.int(12) }, (_, i) => entry(i));
  const shuffled = map.toSorted(() => random.int(3) - 1);
  return withHeader(
    printTree({ map: shuffled }),
    ramp(random.chance(0.9) ? end : random.int(end + 9)),
    lengthOf(random),
  );
}

function editedFile(random: Random): Uint8Array<ArrayBuffer> {
  return mutateBytes(random, VALID);
}
