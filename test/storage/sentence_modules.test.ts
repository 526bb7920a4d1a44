// The modules behind a language model: their files, and hostile lists.

import { expect, test, vi } from 'vitest';
import { filesFolder } from '../../src/storage/dropped_files';
import { openModel } from '../../src/storage/model_file';
import { openModules } from '../../src/storage/sentence_modules';
import { urlFolder } from '../../src/storage/source/folder';
import { chosenFolder } from '../model/fixtures/files';

const FOLDER = new URL('../fixtures/embeddings/embedding_gemma', import.meta.url).pathname;

test('modules are read in their order, with tensors named after their folders', async () => {
  const files = await openModel(chosenFolder(FOLDER));
  expect(files.modules?.map(({ type, path }) => [type, path])).toEqual([
    ['Pooling', '1_Pooling'],
    ['Dense', '2_Dense'],
    ['Dense', '3_Dense'],
    ['Normalize', '4_Normalize'],
  ]);
  expect(files.modules?.[1].config).toMatchObject({ in_features: 64, out_features: 256 });
  expect(files.tensors.get('2_Dense/linear.weight')).toMatchObject({ shape: [256, 64], dtype: 'F32' });
  expect(files.tensors.get('3_Dense/linear.weight')).toMatchObject({ shape: [64, 256] });
  const bytes = [...files.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(files.totalBytes).toBe(bytes);
});

test('a folder without modules.json has none', async () => {
  const files = await openModel(chosenFolder(FOLDER).filter(({ name }) => name !== 'modules.json'));
  expect(files.modules).toBeNull();
  expect([...files.tensors.keys()].filter((name) => name.includes('/'))).toEqual([]);
});

test('malformed lists are refused', async () => {
  const folder = filesFolder(chosenFolder(FOLDER));
  const open = (modules: readonly unknown[]) => openModules(folder, modules, async () => null);
  await expect(open(Array.from({ length: 17 }, () => ({})))).rejects.toThrow('names 17 modules; at most 16');
  const bad = [null, 1, {}, { type: 'a.Dense' }, { type: 'a.Dense', path: '../up' }, { type: '', path: 'x' }];
  for (const entry of bad) await expect(open([entry])).rejects.toThrow('without a type and a plain folder name');
  const list = new File(['{"not": "a list"}'], 'modules.json');
  const files = chosenFolder(FOLDER).map((file) => (file.name === 'modules.json' ? list : file));
  await expect(openModel(files)).rejects.toThrow('not a list');
});

test('a folder in a folder behind a URL keeps the query, such as a signature', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string | URL | Request) => {
    asked.push(url instanceof Request ? url.url : String(url));
    return new Response('', { status: 404 });
  });
  const inner = urlFolder(new URL('https://example.org/models/gemma?signature=1')).inner('2_Dense');
  expect(await inner.open('config.json', 'json')).toBeNull();
  expect(asked[0]).toBe('https://example.org/models/gemma/2_Dense/config.json?signature=1');
  vi.unstubAllGlobals();
});
