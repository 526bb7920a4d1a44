// Storage that throws, refuses, hangs, is full, loses data, or whose worker dies, at each single call of a load: the
// model answers with equal bytes in bounded time, one warning names the trouble, and the next load is right.

import { expect, test, vi } from 'vitest';
import { openCache } from '../../src/storage/cache/cache';
import { deleteModel, listModels } from '../../src/storage/cache/cached_models';
import type { FileManifest } from '../../src/storage/cache/manifest';
import { type OnWait, TabWaits } from '../../src/storage/cache/tab_waits';
import { inStores } from '../../src/storage/cache/watched_stores';
import { urlSource } from '../../src/storage/source/url_source';
import { type Lie, LyingStorage } from '../storage/lying_storage';
import { ramp } from '../storage/write_gguf';

const URL = 'https://models.example/f.bin';
const TUNING = { windowBytes: 1000, retryDelaysMs: [1], stallMs: 1e9 };
const FILE = Uint8Array.from(ramp(1700), (byte, i) => byte ^ (i >> 8));
const PIECES = 2;
const EQUAL = Buffer.from(FILE).toString('base64');
/** The longest wait for storage that gives no answer, and for another tab. */
const [HANGS_MS, TAB_MS] = [10_000, 60_000];

interface Loaded {
  bytes: string;
  isKept?: boolean;
  warnings: { code: string; message: string }[];
}

/** A load of the whole file, with `meanwhile` after its first bytes. */
async function load(meanwhile?: () => void, onWait?: OnWait, alone?: AbortSignal): Promise<Loaded> {
  const warnings: Loaded['warnings'] = [];
  const cache = await openCache(URL, (warning) => warnings.push(warning), false, new TabWaits(onWait, alone));
  const tab = new AbortController();
  try {
    const source = await urlSource(URL, { cache, signal: tab.signal }, TUNING);
    await cache?.finish('f');
    const parts: Uint8Array[] = [];
    for (let at = 0; at < source.size; at += 500) {
      parts.push(await source.read(at, Math.min(500, source.size - at)));
      if (at === 0) meanwhile?.();
    }
    cache?.noteLoaded();
    return { bytes: Buffer.concat(parts).toString('base64'), warnings, isKept: cache?.isKept };
  } finally {
    tab.abort();
    await cache?.close();
  }
}

const codes = ({ warnings }: Loaded) => warnings.map(({ code }) => code);

async function expectWell(storage: LyingStorage, mostRequests: number): Promise<void> {
  expect(await storage.run(() => load())).toEqual({ bytes: EQUAL, warnings: [], isKept: true });
  expect(storage.requests.length).toBeLessThanOrEqual(mostRequests);
  expect(await storage.run(() => load())).toEqual({ bytes: EQUAL, warnings: [], isKept: true });
  expect(storage.requests).toEqual([]);
}

/** Pieces that no record names. */
function missing({ records }: LyingStorage): number {
  const record = records.get(`file ${URL}`) as FileManifest | undefined;
  return record ? record.hashes.filter((hash) => hash === null).length : PIECES;
}

/** Calls without which a load goes on as well: it asks for a size, it writes and sets free what it can, it waits. */
const SILENT = /^(lock|find|remove|estimate)$/;
const CODES: Record<string, string> = { full: 'cache-full', hang: 'storage-hangs' };

test.each(['cold', 'warm'].flatMap((kind) => (['throw', 'reject', 'hang', 'full'] as Lie[]).map((how) => [kind, how])))(
  'a %s load where call k does "%s", for all k',
  async (kind, how) => {
    const storage = new LyingStorage(FILE);
    if (kind === 'warm') await storage.run(() => load());
    const restore = storage.save();
    const silent = new Set<string>();
    let at = 0;
    for (; ; at++) {
      restore();
      const loaded = (await storage.run(() => load(), { at, how: how as Lie })) as Loaded;
      if (storage.calls.length <= at) break;
      const name = storage.calls[at];
      expect(loaded.bytes, `call ${at}, ${name}`).toBe(EQUAL);
      if (/^(create|write|move)$/.test(name) && loaded.warnings.length > 0) expect(loaded.isKept).toBe(false);
      expect(storage.waitedMs).toBeLessThanOrEqual(name === 'lock' ? TAB_MS : HANGS_MS);
      expect([[], [CODES[how] ?? 'storage-refused']]).toContainEqual(codes(loaded));
      if (loaded.warnings.length === 0) silent.add(name);
      await expectWell(storage, PIECES);
    }
    expect(at).toBeGreaterThan(20);
    const cannot = how === 'hang' ? /^(write|flush|close|commit)$/ : /^commit$/; // of a call that answers at once; of a mere read
    expect([...silent].filter((name) => !SILENT.test(name) && !cannot.test(name))).toEqual([]);
  },
);

test.each(['cold', 'warm'])(
  'a %s load whose worker dies at call k, for all k: nothing kept is fetched again',
  async (kind) => {
    const storage = new LyingStorage(FILE);
    if (kind === 'warm') await storage.run(() => load());
    const restore = storage.save();
    for (let at = 0; ; at++) {
      restore();
      if ((await storage.run(() => load(), { at, how: 'die' })) !== 'died') break;
      await expectWell(storage, missing(storage));
    }
  },
);

test('storage whose calls all lie, by their name: equal bytes, at most one warning of a kind', async () => {
  const storage = new LyingStorage(FILE);
  await storage.run(() => load());
  const names = ['root', 'folder', 'open database', 'get', 'put', 'commit', 'lock', 'find', 'stat', 'read'];
  const restore = storage.save();
  for (const name of [...names, 'create|open|write|flush|close|move', '.*']) {
    for (const how of ['throw', 'reject', 'hang', 'full'] as const) {
      for (const isWarm of [true, false]) {
        restore();
        if (!isWarm) storage.records.clear();
        const loaded = (await storage.run(() => load(), { at: new RegExp(`^(${name})$`), how })) as Loaded;
        expect(loaded.bytes, `${name}, ${how}`).toBe(EQUAL);
        expect(new Set(codes(loaded)).size).toBe(loaded.warnings.length);
        expect(storage.waitedMs, `${name}, ${how}`).toBeLessThanOrEqual(2 * HANGS_MS);
        await expectWell(storage, PIECES);
      }
    }
  }
});

test.each([
  ['all of it', { navigator: {}, indexedDB: undefined }],
  ['its private file system', { navigator: { storage: {} } }],
  ['its database', { indexedDB: undefined }],
  ['secure pages', { crypto: {} }],
])('a browser without %s: the model loads, and one warning says so', async (_, globals) => {
  const storage = new LyingStorage(FILE);
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  const loaded = (await storage.run(() => load())) as Loaded;
  expect(loaded).toMatchObject({ bytes: EQUAL, warnings: [{ code: 'storage-refused' }] });
  expect(loaded.warnings[0].message).toMatch(/^This browser's storage refused \(.+\)\. The model works, and/);
});

test.each<[string, (storage: LyingStorage) => void]>([
  ['the database is cleared', ({ records }) => records.clear()],
  ['the files vanish', ({ files }) => files.clear()],
  ['all of it is cleared', ({ files, records }) => [files, records].map((map) => map.clear())],
  ['the files hold other bytes', ({ files }) => [...files.values()].map((bytes) => bytes.fill(7))],
])('%s during a load, cold or warm, or before it', async (_, fault) => {
  const storage = new LyingStorage(FILE);
  for (const isWarm of [false, true]) {
    expect(await storage.run(() => load(() => fault(storage)))).toMatchObject({ bytes: EQUAL });
    if (isWarm) continue;
    await expectWell(storage, PIECES);
    fault(storage);
    await expectWell(storage, PIECES);
  }
  await expectWell(storage, PIECES);
});

test('full: the warning says what is kept, what the site uses and may use, and what to delete', async () => {
  const storage = new LyingStorage(FILE);
  const { warnings } = (await storage.run(() => load(), { at: /write/, how: 'full' })) as Loaded;
  expect(warnings).toEqual([
    {
      code: 'cache-full',
      message:
        "This browser's storage is full for this site: of the 0.0 MB that this model needs, 0.0 MB are kept. " +
        'The site uses 5.0 MB of the 6.0 MB that it may. The model works, and the rest is fetched again at the next ' +
        'load. No other model is kept that could be deleted; make room on this device.',
      facts: { requestedBytes: FILE.length, keptBytes: 0 },
    },
  ]);
});

const LOCKS = ['vivace-models', `vivace file ${URL}`, `vivace piece 0 ${URL}`, `vivace piece 1 ${URL}`];

test.each(LOCKS)(
  'a tab that hangs with the lock "%s": told within a second, ended by the person, or in a minute',
  async (name) => {
    const storage = new LyingStorage(FILE);
    if (name.includes('piece 0')) {
      await storage.run(() => load());
      storage.files.clear(); // piece 0 comes with the opening of the file, unless it was lost
    }
    const restore = storage.save();
    for (const answers of [false, true]) {
      restore();
      storage.hold(name);
      const alone = new AbortController();
      const told: (number | undefined)[] = [];
      const onWait: OnWait = (ms) => {
        told.push(ms === undefined ? ms : Math.round(ms));
        if (answers && ms !== undefined && ms >= 3000) alone.abort();
      };
      expect(await storage.run(() => load(undefined, onWait, alone.signal))).toEqual({
        bytes: EQUAL,
        warnings: [],
        isKept: true,
      });
      const limit = answers ? 3000 : name === 'vivace-models' ? 5000 : TAB_MS;
      expect(storage.waitedMs).toBe(limit);
      const last = answers ? limit : limit - 250;
      expect(told).toEqual([...Array.from({ length: last / 250 }, (_, i) => 250 * (i + 1)), undefined]);
    }
  },
);

test('two loads of one worker after another leave no presence and no lock', async () => {
  const storage = new LyingStorage(FILE);
  await storage.run(() => load());
  storage.end();
  await storage.run(async () => {
    await Promise.all([load(), load()]);
    return load();
  });
  expect([storage.requests, storage.waitedMs]).toEqual([[], 0]);
});

test('deletion and the list wait 5 seconds for a tab that hangs, and say so where storage does not answer', async () => {
  const storage = new LyingStorage(FILE);
  const remove = () => inStores((stores) => deleteModel(stores, URL), undefined);
  const list = () => inStores(listModels, []);
  await storage.run(() => load());
  const restore = storage.save();
  storage.hold('vivace-models');
  await storage.run(remove);
  expect([storage.files.size, storage.records.size, storage.waitedMs]).toEqual([0, 0, 5000]);
  for (const work of [remove, list]) {
    for (const name of [/^root$/, /^get$/, /^keys$/, ...(work === remove ? [/^delete$/] : [])]) {
      restore();
      await expect(storage.run<unknown>(work, { at: name, how: 'hang' })).rejects.toThrow(
        'The storage gave no answer for 5 seconds. Another tab of this site may hold it: close that tab, and try again.',
      );
    }
  }
  expect(await storage.run(list, { at: /^root$/, how: 'reject' })).toEqual([]);
  await expect(storage.run(remove, { at: /^delete$/, how: 'reject' })).rejects.toThrow('not now');
});
