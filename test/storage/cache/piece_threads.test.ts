// Pieces in other threads, over real MessagePorts within one: who works on what, and what happens to those who do not
// answer.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { ModelCache } from '../../../src/storage/cache/cache';
import { newFile } from '../../../src/storage/cache/manifest';
import { pieceName } from '../../../src/storage/cache/piece_store';
import { servePieces, workInThreads } from '../../../src/storage/cache/piece_threads';
import { type PieceWork, workHere } from '../../../src/storage/cache/piece_work';
import { type FakeStores, fakeStores } from '../fake_stores';

const PIECE = 100;
const N = 24;
const piece = (i: number) => new Uint8Array(PIECE).fill(i + 1);
const ports: MessagePort[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const port of ports.splice(0)) port.close();
});

/** Threads that share `stores`, with what they did; those of `silent` never answer. */
function threadsOver(stores: FakeStores, silent = false) {
  const done = { started: 0, ended: 0 };
  const start = async () => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    done.started++;
    if (!silent) void servePieces(port2, async () => stores.pieces).then(() => done.ended++);
    return port1;
  };
  return { done, start };
}

/** The work of this thread, with the number of pieces that it was asked for. */
function counted(stores: FakeStores): { work: PieceWork; count: () => number } {
  const here = workHere(stores.pieces);
  let count = 0;
  const work: PieceWork = {
    read(name) {
      count++;
      return here.read(name);
    },
    name(bytes) {
      count++;
      return here.name(bytes);
    },
    write: (name, bytes) => here.write(name, bytes),
    end() {},
  };
  return { work, count: () => count };
}

const noTrouble = (error: unknown) => {
  throw error;
};

test('the first pieces are read, named and written here, the others in threads, and the bytes stay with the caller', async () => {
  const stores = fakeStores();
  const { done, start } = threadsOver(stores);
  const { work: here, count } = counted(stores);
  const work = workInThreads(here, start, noTrouble);
  const names: string[] = [];
  for (let i = 0; i < N; i++) {
    const bytes = piece(i);
    const name = await work.name(bytes);
    await work.write(name, bytes);
    expect([name, bytes]).toEqual([await pieceName(piece(i)), piece(i)]);
    names.push(name);
  }
  expect(count()).toBeLessThan(N / 2);
  expect(done.started).toBeGreaterThan(0);
  expect([...stores.pieces.pieces]).toEqual(names.map((name, i) => [name, piece(i)]));
  for (const [i, found] of names.entries()) expect(await work.read(found)).toEqual({ bytes: piece(i), found });
  expect(await work.read('missing')).toBeNull();
  expect(count()).toBeLessThan(N / 2);
  work.end();
  await vi.waitFor(() => expect(done.ended).toBe(done.started));
});

test('two pieces of equal content are one', async () => {
  const stores = fakeStores();
  const work = workInThreads(workHere(stores.pieces), threadsOver(stores).start, noTrouble);
  for (let i = 0; i < N; i++) await work.name(piece(i)); // threads have started
  const names = await Promise.all([work.name(piece(0)), work.name(piece(0))]);
  await Promise.all(names.map((name) => work.write(name, piece(0))));
  expect([...stores.pieces.pieces]).toEqual([[await pieceName(piece(0)), piece(0)]]);
});

test('all pieces of a thread that does not answer are done here, also those that it has named', async () => {
  const stores = fakeStores();
  const troubles: unknown[] = [];
  let isSilent = false;
  const start = async () => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    void servePieces(port2, async () => stores.pieces);
    const hear = port2.onmessage;
    port2.onmessage = (event) => void (isSilent || hear?.call(port2, event));
    return port1;
  };
  const work = workInThreads(workHere(stores.pieces), start, (error) => troubles.push(error));
  for (let i = 0; i < N; i++) await work.name(piece(i)); // threads have started
  isSilent = true;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const names = await Promise.all(Array.from({ length: N }, (_, i) => pieceName(piece(i))));
  const write = (name: string, i: number) => work.write(name, piece(i));
  const writing = Promise.allSettled(names.slice(1).map((name, i) => write(name, i + 1)));
  await vi.advanceTimersByTimeAsync(10_000);
  await writing;
  await write(names[0], 0); // asks no thread any more
  expect([...stores.pieces.pieces.keys()].sort()).toEqual([...names].sort());
  expect(troubles).toEqual([]);
});

test('a piece that comes after the end is done here at once', async () => {
  const stores = fakeStores();
  const { done, start } = threadsOver(stores);
  const work = workInThreads(workHere(stores.pieces), start, noTrouble);
  for (let i = 0; i < N; i++) await work.name(piece(i));
  work.end();
  await vi.waitFor(() => expect(done.ended).toBe(done.started));
  for (const port of ports) port.close(); // as the ended threads' are
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  expect(await work.name(piece(30))).toBe(await pieceName(piece(30)));
}, 2000);

describe('in a cache', () => {
  const URL = 'https://example.org/model.gguf';

  async function loaded(stores: FakeStores, start: () => Promise<MessagePort | null>, warnings: string[] = []) {
    const cache = await ModelCache.open(URL, stores, ({ code }) => warnings.push(code), false, undefined, start);
    const file = (await cache.find(URL, PIECE)) ?? newFile(URL, N * PIECE, 'v1', PIECE);
    cache.adopt(file);
    return { cache, file };
  }

  async function kept(start: (stores: FakeStores) => () => Promise<MessagePort | null>, warnings: string[] = []) {
    const stores = fakeStores();
    const { cache, file } = await loaded(stores, start(stores), warnings);
    for (let i = 0; i < N; i++) await cache.keep(file, i, piece(i));
    await cache.finish('model');
    await cache.close();
    return stores;
  }

  const read = async (stores: FakeStores, start: () => Promise<MessagePort | null>) => {
    const { cache, file } = await loaded(stores, start);
    const found: (number | null)[] = [];
    for (let i = 0; i < N; i++) found.push((await cache.read(file, i))?.[0] ?? null);
    await cache.close();
    return found;
  };

  const all = Array.from({ length: N }, (_, i) => i + 1);

  test('pieces that threads keep are read by threads, and a damaged one is removed', async () => {
    const stores = await kept((own) => threadsOver(own).start);
    expect(await read(stores, threadsOver(stores).start)).toEqual(all);
    const name = await pieceName(piece(20));
    stores.pieces.pieces.set(name, piece(99));
    expect(await read(stores, threadsOver(stores).start)).toEqual(all.map((value) => (value === 21 ? null : value)));
    expect(stores.pieces.pieces.has(name)).toBe(false);
  });

  test('without threads, the thread that loads does it all', async () => {
    const stores = await kept(() => async () => null);
    expect(await read(stores, async () => null)).toEqual(all);
  });

  test('storage that is full in a thread is told once, and the load goes on', async () => {
    const warnings: string[] = [];
    const stores = await kept((own) => {
      own.pieces.fullAt = 18;
      return threadsOver(own).start;
    }, warnings);
    expect([stores.pieces.pieces.size, warnings]).toEqual([18, ['cache-full']]);
  });

  test('a thread that does not answer is given up after its time, and its pieces are read here', async () => {
    const stores = await kept((own) => threadsOver(own).start);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { done, start } = threadsOver(stores, true);
    const reading = read(stores, start);
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await Promise.race([reading, null])).not.toBeNull();
    });
    expect(await reading).toEqual(all);
    expect(done.started).toBeGreaterThan(0);
  });
});
