// One bit flipped at random, in a kept piece or on the way: noticed before the load ends. Every place follows from its
// number; VIVACE_FLIPS=10000 tries so many.

import { expect, test } from 'vitest';
import { ModelFileError } from '../../src/errors';
import { openCache } from '../../src/storage/cache/cache';
import { type FileManifest, nPieces } from '../../src/storage/cache/manifest';
import { urlSource } from '../../src/storage/source/url_source';
import { Random } from '../fuzz/random';
import { LyingStorage } from '../storage/lying_storage';
import { ramp } from '../storage/write_gguf';

const URL = 'https://models.example/f.bin';
const TUNING = { windowBytes: 1000, retryDelaysMs: [1], stallMs: 1e9 };
const FILE = Uint8Array.from(ramp(4500), (byte, i) => byte ^ (i >> 8));
const EQUAL = Buffer.from(FILE).toString('base64');
const FLIPS = Number(process.env.VIVACE_FLIPS ?? 300);

/** The whole file in base64, from one read through the cache. */
async function load(): Promise<string> {
  const cache = await openCache(URL, () => {});
  try {
    const source = await urlSource(URL, { cache }, TUNING);
    await cache?.finish('f');
    const bytes = await source.read(0, source.size);
    cache?.noteLoaded();
    return Buffer.from(bytes).toString('base64');
  } finally {
    await cache?.close();
  }
}

test(`${FLIPS / 2} flips in kept pieces: the piece is fetched again`, async () => {
  const storage = new LyingStorage(FILE);
  expect(await storage.run(load)).toBe(EQUAL);
  const restore = storage.save();
  const { hashes } = storage.records.get(`file ${URL}`) as FileManifest;
  for (let seed = 0; seed < FLIPS / 2; seed++) {
    const bit = new Random(seed).int(8 * FILE.length);
    const piece = Math.floor(bit / 8000);
    restore();
    (storage.files.get(hashes[piece] as string) as Uint8Array)[(bit >> 3) % 1000] ^= 1 << (bit & 7);
    expect(await storage.run(load), `bit ${bit}`).toBe(EQUAL);
    expect(storage.requests).toHaveLength(1);
  }
});

test(`${FLIPS / 2} flips on the way, of a file with a hash: an error, and nothing of it is kept`, async () => {
  const storage = new LyingStorage(FILE);
  for (let seed = 0; seed < FLIPS / 2; seed++) {
    const bit = new Random(FLIPS + seed).int(8 * FILE.length);
    const at = bit >> 3;
    storage.damage = (part, offset) => {
      if (at >= offset && at < offset + part.length) part[at - offset] ^= 1 << (bit & 7);
    };
    await expect(storage.run(load), `bit ${bit}`).rejects.toThrow(ModelFileError);
    expect(storage.files.size).toBe(0);
  }
  storage.damage = () => {};
  expect(await storage.run(load)).toBe(EQUAL);
});

test.each<[string, (record: FileManifest) => void]>([
  ['permuted hashes', ({ hashes }) => hashes.splice(0, 4, ...hashes.slice(0, 4).reverse())],
  ['a size of one byte more', (record) => record.size++],
  ['a size of one byte less', (record) => record.size--],
])('a record with %s ends in a new fetch', async (_, damage) => {
  const storage = new LyingStorage(FILE);
  await storage.run(load);
  damage(storage.records.get(`file ${URL}`) as FileManifest);
  expect(await storage.run(load)).toBe(EQUAL);
  expect(storage.requests).toHaveLength(nPieces({ size: FILE.length, pieceBytes: TUNING.windowBytes }));
  expect(await storage.run(load)).toBe(EQUAL);
  expect(storage.requests).toEqual([]);
});
