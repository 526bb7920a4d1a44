// The files of a drop, from entries as browsers give them.

import { expect, test } from 'vitest';
import { filesOf } from '../../../src/ui/page/dropped_files';

type Tree = { [name: string]: Tree | string };

/** Entries as a browser has them: children in batches of `batch`, a file through a callback. */
function entryOf(name: string, content: Tree | string, batch = 100): FileSystemEntry {
  if (typeof content === 'string') {
    const file = (resolve: (file: File) => void, reject: (error: Error) => void) =>
      content === 'unreadable' ? reject(new Error('gone')) : resolve(new File([content], name));
    return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
  }
  const createReader = () => {
    const rest = Object.entries(content).map(([child, inside]) => entryOf(child, inside, batch));
    return { readEntries: (resolve: (some: FileSystemEntry[]) => void) => resolve(rest.splice(0, batch)) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

function drop(tree: Tree, batch?: number): DataTransfer {
  const items = Object.entries(tree).map(([name, content]) => ({
    kind: 'file',
    webkitGetAsEntry: () => entryOf(name, content, batch),
  }));
  const files = Object.keys(tree).map((name) => new File([''], name));
  return { items, files } as unknown as DataTransfer;
}

const namesOf = async (transfer: DataTransfer) => (await filesOf(transfer)).map((file) => file.name);

test('files without folders are listed as they are', async () => {
  expect(await namesOf(drop({ 'a.gguf': 'x', 'b.json': '{}' }))).toEqual(['a.gguf', 'b.json']);
  const plain = { items: [{ kind: 'string' }, { kind: 'file' }], files: [new File(['x'], 'a.gguf')] };
  expect(await namesOf(plain as unknown as DataTransfer)).toEqual(['a.gguf']);
});

test('a folder is read in batches, without hidden or unreadable entries', async () => {
  const folder = {
    'config.json': '{}',
    'w.safetensors': 'x',
    '.git': { objects: 'x' },
    '.DS_Store': 'x',
    bad: 'unreadable',
  };
  expect(await namesOf(drop({ model: folder }, 2))).toEqual(['config.json', 'w.safetensors']);
});

test('of two files with one name the less deep one counts; two equally deep ones stay for the loader to refuse', async () => {
  const twice = { model: { onnx: { 'config.json': 'deep' }, 'config.json': 'top' } };
  const files = await filesOf(drop(twice));
  expect(await Promise.all(files.map((file) => file.text()))).toEqual(['top']);
  expect(await namesOf(drop({ a: { 'config.json': '1' }, b: { 'config.json': '2' } }))).toHaveLength(2);
});

test('a folder of endless folders ends 8 levels deep', async () => {
  let tree: Tree = { 'too_deep.json': 'x' };
  for (let level = 8; level >= 0; level--)
    tree = { [`f${level}`]: level === 8 ? tree : { ...tree, [`at${level}.json`]: 'x' } };
  expect(await namesOf(drop(tree))).toEqual(Array.from({ length: 8 }, (_, level) => `at${level}.json`));
});

test('two thousand of a hundred thousand files are listed', async () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`${i}.json`, 'x']));
  expect((await filesOf(drop({ many }))).length).toBe(1999); // the folder is an entry, too
});
