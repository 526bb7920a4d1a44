// The memory of a load whose server is faster than the browser's storage.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ModelCache } from '../../../src/storage/cache/cache';
import { turn } from '../../../src/storage/cache/tab_locks';
import type { ByteSource } from '../../../src/storage/source/byte_source';
import { urlSource } from '../../../src/storage/source/url_source';
import { type FakeStores, fakeStores } from '../fake_stores';
import { sendFile, serve } from '../serve';

const WINDOW = 2 ** 20;
const WINDOWS = 40;
const TUNING = { windowBytes: WINDOW, retryDelaysMs: [1], stallMs: 60_000 };
/** A window that is asked for and two ahead of it. */
const MOST_UNWRITTEN = 3 * WINDOW;
/** Those, and three windows that were read last. */
const MOST_HELD = 6 * WINDOW;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

async function ticks(n: number): Promise<void> {
  for (let tick = 0; tick < n; tick++) await new Promise((resolve) => setImmediate(resolve));
}

/** Bytes of the pieces that something still holds. */
async function heldBytes(pieces: readonly WeakRef<Uint8Array>[]): Promise<number> {
  await ticks(1); // a job holds what it has looked at
  collectGarbage();
  return pieces.reduce((sum, piece) => sum + (piece.deref()?.length ?? 0), 0);
}

/** Lets nothing pass from `shut` until `open`. */
function gate() {
  let opened = Promise.resolve();
  const now = { open() {} };
  const shut = () => {
    opened = new Promise((resolve) => {
      now.open = resolve;
    });
  };
  return { shut, open: () => now.open(), pass: () => opened };
}

/** A file whose windows differ, opened from a server on this machine. */
async function openFile(stores: FakeStores) {
  const file = Buffer.alloc(WINDOW * WINDOWS);
  for (let i = 0; i < WINDOWS; i++) file[i * WINDOW] = i;
  const sent = { bytes: 0 };
  const { url } = await serve({}, (request, response) =>
    sendFile(request, response, file, {
      body(part) {
        sent.bytes += part.length;
        return part;
      },
    }),
  );
  const cache = await ModelCache.open(`${url}f.bin`, stores, () => {});
  return { cache, sent, source: await urlSource(`${url}f.bin`, { cache }, TUNING) };
}

async function readAll(source: ByteSource, meanwhile: (i: number) => Promise<void> = async () => {}): Promise<void> {
  const into = new Uint8Array(WINDOW);
  for (let i = 0; i < WINDOWS; i++) {
    const [first] = await source.read(i * WINDOW, WINDOW, into);
    expect(first).toBe(i);
    await meanwhile(i);
  }
}

test('a server sends no more than three windows that the disk has not written', async () => {
  const stores = fakeStores();
  const disk = gate();
  let written = 0;
  stores.pieces.write = async (_, bytes) => {
    await disk.pass();
    written += bytes.length;
  };
  const { cache, sent, source } = await openFile(stores);
  const unwritten: number[] = [];
  disk.shut();
  const reading = readAll(source);
  for (let i = 0; i < WINDOWS; i++) {
    await ticks(20);
    unwritten.push(sent.bytes - written);
    disk.open();
    await ticks(1);
    disk.shut();
  }
  disk.open();
  await reading;
  await cache.close();
  expect(Math.max(...unwritten)).toBeGreaterThanOrEqual(WINDOW);
  expect(Math.max(...unwritten)).toBeLessThanOrEqual(MOST_UNWRITTEN);
  expect(written).toBe(WINDOW * WINDOWS);
});

test('a database that does not answer holds no piece in memory', async () => {
  const stores = fakeStores();
  const pieces: WeakRef<Uint8Array>[] = [];
  stores.pieces.write = async (_, bytes) => void pieces.push(new WeakRef(bytes));
  stores.manifests.turn = turn;
  const database = gate();
  const update = stores.manifests.update.bind(stores.manifests);
  stores.manifests.update = async (...args) => {
    await database.pass();
    await update(...args);
  };
  const { cache, source } = await openFile(stores);
  database.shut();
  const held: number[] = [];
  await readAll(source, async (i) => {
    if (i % 8 === 7) held.push(await heldBytes(pieces));
  });
  database.open();
  await cache.close();
  expect(pieces.length).toBe(WINDOWS);
  expect(Math.max(...held)).toBeLessThanOrEqual(MOST_HELD);
});
