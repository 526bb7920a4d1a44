// Pieces of prompts in a fake of the browser's file system: what is read is what was kept, within the bound.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { deleteAllPrompts, openPromptFiles } from '../../../src/storage/prompts/prompt_files';
import {
  HEADER_BYTES,
  packPiece,
  parseName,
  parsePiece,
  pieceNames,
  tokensPerPiece,
} from '../../../src/storage/prompts/prompt_piece';
import { PromptStore } from '../../../src/storage/prompts/prompt_store';
import { FakeFolder } from './fake_folder';

const MODEL = { location: 'https://example.org/model.gguf', root: 'a' };
const LENGTH = 600_000; // three slices
const FILE = HEADER_BYTES + LENGTH;
const HOUR = 3_600_000;
const always = () => true;
const ids = Array.from({ length: 100 }, (_, i) => i);
const names = pieceNames(MODEL, ids, 16);
const bodies = [1, 2, 3, 4].map((seed) => Uint8Array.from({ length: LENGTH }, (_, i) => (i * seed) >> 3));
const piece = (seed: number) => ({ body: bodies[seed - 1], computeMs: 9 });

async function open(folder: FakeFolder, pieces = 3) {
  return PromptStore.open(await openPromptFiles(folder.root), pieces * FILE, () => folder.time);
}

describe('names', () => {
  test('prompts share the names of what they have in common', () => {
    expect(names).toHaveLength(6);
    const other = pieceNames(MODEL, ids.with(40, 7), 16);
    expect(other.map((name, i) => name === names[i])).toEqual([true, true, false, false, false, false]);
    expect(pieceNames(MODEL, ids.slice(0, 15), 16)).toEqual([]);
  });

  test('another model, arithmetic or place has other names', () => {
    for (const model of [
      { ...MODEL, root: 'b' },
      { ...MODEL, location: 'https://example.org/' },
    ]) {
      expect(pieceNames(model, ids, 16).some((name) => names.includes(name))).toBe(false);
    }
    expect(names.map((name) => parseName(name)?.index)).toEqual([0, 1, 2, 3, 4, 5]);
    for (const name of ['', '../x', `${names[0]}.tmp`, names[0].toUpperCase(), 'a'.repeat(500)]) {
      expect(parseName(name)).toBeNull();
    }
  });

  test('a piece takes about 4 MB, and neither too few nor too many tokens', () => {
    expect([1, 32_768, 65_536, 100_000, 10 ** 7].map(tokensPerPiece)).toEqual([128, 128, 64, 32, 16]);
  });
});

test('a piece is as it was packed, or is none', async () => {
  const bytes = await packPiece({ body: Uint8Array.of(1, 2, 3, 4), computeMs: 2.5 });
  expect(await parsePiece(bytes, 4)).toEqual({ body: Uint8Array.of(1, 2, 3, 4), computeMs: 2.5 });
  for (let i = 0; i < bytes.length; i++) expect(await parsePiece(bytes.with(i, bytes[i] ^ 1), 4)).toBeNull();
  for (let end = 0; end < bytes.length; end++) expect(await parsePiece(bytes.slice(0, end), 4)).toBeNull();
  expect(await parsePiece(bytes, 5)).toBeNull();
  expect(await parsePiece(await packPiece({ body: new Uint8Array(4), computeMs: Number.NaN }), 4)).toBeNull();
});

test('killed at any operation of two writes: what is there then is right, and the next write completes it', async () => {
  const folder = new FakeFolder();
  const store = await open(folder);
  const first = folder.operations;
  for (const i of [0, 1]) await store.keep(names[i], piece(i + 3), always);
  const last = folder.operations;
  expect(last - first).toBeGreaterThan(10);
  for (let at = first; at <= last; at++) {
    const dying = new FakeFolder();
    const before = await open(dying);
    dying.diesAt = at;
    for (const i of [0, 1]) await before.keep(names[i], piece(i + 3), always).catch(() => {});
    dying.revive();
    const next = await open(dying);
    for (const i of [0, 1]) {
      const read = await next.read(names[i], LENGTH);
      if (read) expect(Buffer.compare(read.body, piece(i + 3).body)).toBe(0);
      else await next.keep(names[i], piece(i + 3), always);
    }
    expect([dying.files.size, dying.bytes]).toEqual([2, 2 * FILE]);
  }
});

test('a damaged piece is removed, also one of another length', async () => {
  const folder = new FakeFolder();
  const store = await open(folder);
  await store.keep(names[0], piece(3), always);
  expect(store.has(names[0], LENGTH)).toBe(true);
  const file = folder.files.get(names[0]);
  if (file) file.bytes[FILE - 1] ^= 128;
  expect(await store.read(names[0], LENGTH)).toBeNull();
  expect([folder.files.size, store.has(names[0], LENGTH)]).toEqual([0, false]);
  await store.keep(names[0], piece(3), always);
  expect([store.has(names[0], LENGTH + 1), await store.read(names[0], LENGTH + 1)]).toEqual([false, null]);
  expect(folder.files.size).toBe(0);
});

test('within the bound: the least recently used goes first, of a prompt its end, and foreign files before', async () => {
  const folder = new FakeFolder();
  const others = pieceNames(MODEL, ids.with(0, 7), 16);
  const store = await open(folder);
  for (const name of names.slice(0, 3)) await store.keep(name, piece(1), always);
  folder.time += 2 * HOUR;
  await store.keep(others[0], piece(2), always);
  expect([...folder.files.keys()]).toEqual([names[0], names[1], others[0]]);
  await store.touch(names.slice(0, 2));
  folder.time += 2 * HOUR;
  await store.keep(others[1], piece(2), always);
  expect([...folder.files.keys()].sort()).toEqual([names[0], others[0], others[1]].sort());
  folder.files.set('stray', { bytes: new Uint8Array(1000), lastModified: 0, isLocked: false });
  await store.refresh();
  await store.keep(others[2], piece(2), always);
  expect([...folder.files.keys()].sort()).toEqual([others[0], others[1], others[2]].sort());
  expect(folder.bytes).toBeLessThanOrEqual(3 * FILE);
});

test('a full disk and a request leave no part behind', async () => {
  const folder = new FakeFolder();
  const store = await open(folder);
  await store.keep(names[0], piece(1), always);
  folder.room = FILE + 300_000;
  await expect(store.keep(names[1], piece(1), always)).rejects.toThrow('No room.');
  folder.room = Number.POSITIVE_INFINITY;
  let slices = 0;
  expect(await store.keep(names[1], piece(1), () => slices++ < 2)).toBe(false);
  expect([...folder.files.keys()]).toEqual([names[0]]);
});

test('a model takes its pieces along', async () => {
  const folder = new FakeFolder();
  const store = await open(folder);
  const [foreign] = pieceNames({ ...MODEL, location: 'https://example.org/other.gguf' }, ids, 16);
  for (const name of [names[0], foreign]) await store.keep(name, piece(1), always);
  const owner = parseName(names[0])?.owner ?? '';
  expect([store.bytesOf(owner), store.bytesOf()]).toEqual([FILE, 2 * FILE]);
  await store.clear(owner);
  expect([...folder.files.keys()]).toEqual([foreign]);
});

test('a file that another tab writes is left alone', async () => {
  const folder = new FakeFolder();
  const store = await open(folder);
  await store.keep(names[0], piece(1), always);
  const file = folder.files.get(names[0]);
  if (file) Object.assign(file, { isLocked: true, bytes: file.bytes.slice(0, 500) });
  expect(await store.read(names[0], LENGTH)).toBeNull();
  await expect(store.keep(names[0], piece(1), always)).rejects.toThrow();
  expect(folder.files.get(names[0])?.bytes.length).toBe(500);
});

test('a damaged piece is no piece at once, also where its removal takes forever', async () => {
  const folder = new FakeFolder();
  const files = await openPromptFiles(folder.root);
  const store = await PromptStore.open({
    ...{ list: () => files.list(), write: files.write.bind(files), touch: files.touch.bind(files) },
    read: async () => new Uint8Array(FILE),
    remove: () => new Promise(() => {}),
  });
  expect(await store.read(names[0], LENGTH)).toBeNull();
});

describe('all prompts of a site', () => {
  const onRemove = (error?: DOMException) => {
    const removeEntry = async () => {
      if (error) throw error;
    };
    vi.stubGlobal('navigator', { storage: { getDirectory: async () => ({ removeEntry }) } });
  };
  afterEach(() => void vi.unstubAllGlobals());

  test('are deleted, also where there are none', async () => {
    onRemove();
    await deleteAllPrompts();
    onRemove(new DOMException('', 'NotFoundError'));
    await deleteAllPrompts();
  });

  test('that a tab is writing are an error', async () => {
    onRemove(new DOMException('', 'NoModificationAllowedError'));
    await expect(deleteAllPrompts()).rejects.toMatchObject({ name: 'NoModificationAllowedError' });
  });
});
