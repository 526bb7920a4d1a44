// The cache of models: what a second load fetches, and every way in which storage, server and other tabs can misbehave.

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ModelCache } from '../../../src/storage/cache/cache';
import { deleteModel, listModels } from '../../../src/storage/cache/cached_models';
import { type FileManifest, type ModelManifest, parseFile, parseModel } from '../../../src/storage/cache/manifest';
import { openModel } from '../../../src/storage/model_file';
import type { HttpTuning } from '../../../src/storage/source/http';
import { urlSource } from '../../../src/storage/source/url_source';
import { type FakeStores, fakeStores } from '../fake_stores';
import { type Hook, sendFile, serve } from '../serve';
import { ramp, value, writeGguf } from '../write_gguf';
import { withHeader, writeSafetensors } from '../write_safetensors';

const TUNING: HttpTuning = { windowBytes: 1000, retryDelaysMs: [1], stallMs: 60_000 };
const PIECES = 5;
const noise = (seed: number) => Buffer.from(ramp(4500).map((byte, i) => byte ^ (i >> 8) ^ seed));
const file = noise(0);

interface Load {
  bytes: Uint8Array;
  fetched: number;
  cached: number;
  warnings: { code: string; message: string }[];
}

/** Opens f.bin as a model of one file and reads it in steps, with `meanwhile` after each. */
async function load(
  url: string,
  stores: FakeStores,
  meanwhile: (step: number) => unknown = () => {},
  asks = false,
): Promise<Load> {
  const warnings: Load['warnings'] = [];
  const onWarning = (warning: Load['warnings'][number]) => void warnings.push(warning);
  const cache = await ModelCache.open(url, stores, onWarning, asks);
  let fetched = 0;
  let cached = 0;
  const onBytes = (n: number, fromCache?: boolean) => {
    if (fromCache) cached += n;
    else fetched += n;
  };
  const tab = new AbortController(); // ends a failed load with its read-ahead
  try {
    const source = await urlSource(url, { cache, onBytes, onWarning, signal: tab.signal }, TUNING);
    await cache.finish('f');
    const bytes = new Uint8Array(source.size);
    for (let step = 0; step * 500 < source.size; step++) {
      bytes.set(await source.read(step * 500, Math.min(500, source.size - step * 500)), step * 500);
      await meanwhile(step);
    }
    return { bytes, fetched, cached, warnings };
  } finally {
    tab.abort();
    await cache.close();
  }
}

async function site(hook?: Hook) {
  const served = await serve({ 'f.bin': file }, hook);
  return { ...served, url: `${served.url}f.bin` };
}

/** A server whose answers can change during a test. */
async function mutableSite() {
  const now: { hook: Hook } = { hook: () => false };
  return { now, ...(await site((...request) => now.hook(...request))) };
}

const down: Hook = (_, response) => !!response.writeHead(500).end();
const manifestOf = (stores: FakeStores, url: string) => stores.manifests.values.get(`file ${url}`) as FileManifest;

describe('a file that was loaded once', () => {
  test('is read again without a request', async () => {
    const { url, requests, now } = await mutableSite();
    const stores = fakeStores();
    const first = await load(url, stores);
    expect(first).toMatchObject({ bytes: new Uint8Array(file), fetched: 4500, cached: 0, warnings: [] });
    expect(stores.pieces.pieces.size).toBe(PIECES);
    requests.length = 0;
    now.hook = down;
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0, cached: 4500 });
    expect(requests).toEqual([]);
  });

  test('from a server without ranges, also', async () => {
    const { url, requests } = await site((_, response) => !!response.writeHead(200, { etag: '"w"' }).end(file));
    const stores = fakeStores();
    await load(url, stores);
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0 });
    expect(requests).toHaveLength(1);
  });

  const damages: [string, (stores: FakeStores, name: string) => void][] = [
    ['altered', ({ pieces }, name) => pieces.pieces.get(name)!.fill(7, 100, 101)],
    ['torn', ({ pieces }, name) => pieces.pieces.set(name, pieces.pieces.get(name)!.slice(0, 300))],
    ['empty', ({ pieces }, name) => pieces.pieces.set(name, new Uint8Array(0))],
    ['gone', ({ pieces }, name) => pieces.pieces.delete(name)],
  ];
  test.each(damages)('a piece that is %s is the only one fetched again', async (_, damage) => {
    const { url, requests } = await site();
    const stores = fakeStores();
    await load(url, stores);
    requests.length = 0;
    damage(stores, manifestOf(stores, url).hashes[2] as string);
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 1000, cached: 3500 });
    expect(requests).toEqual(['f.bin bytes=2000-2999']);
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0 });
  });

  test('an altered piece without a network is an error, never wrong bytes, and shows in the list', async () => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    await load(url, stores);
    stores.pieces.pieces.get(manifestOf(stores, url).hashes[2] as string)!.fill(7);
    now.hook = down;
    await expect(load(url, stores)).rejects.toThrow(/500/);
    expect(await listModels(stores)).toMatchObject([{ bytes: 3500, isComplete: false }]);
  });

  test('a lost piece of a changed file is an error, and the next load takes the new file', async () => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    await load(url, stores);
    stores.pieces.pieces.delete(manifestOf(stores, url).hashes[2] as string);
    // The last piece is that of the old one.
    const newer = Buffer.concat([noise(9).subarray(0, 4000), file.subarray(4000)]);
    now.hook = (request, response) => sendFile(request, response, newer, { headers: { etag: '"v2"' } });
    await expect(load(url, stores)).rejects.toThrow(/changed since it was kept/);
    expect((await load(url, stores)).bytes).toEqual(new Uint8Array(newer));
    // The old version's pieces are gone.
    const named = () => manifestOf(stores, url).hashes.toSorted();
    await expect.poll(() => [...stores.pieces.pieces.keys()].toSorted(), { interval: 5 }).toEqual(named());
    expect((await load(url, stores)).fetched).toBe(0);
  });
});

describe('a server that ignores ranges', () => {
  const whole: Hook = (_, response) => !!response.writeHead(200, { etag: '"w"' }).end(file);
  const zipped: Hook = (_, response) =>
    !!response.writeHead(200, { etag: '"w"', 'content-encoding': 'gzip' }).end(gzipSync(file));

  test.each([
    ['plain', whole],
    ['compressed', zipped],
  ])('%s: every piece is stored on arrival, and none stays in memory', async (_, hook) => {
    const { url, requests } = await site(hook);
    const stores = fakeStores();
    const blobs = vi.spyOn(globalThis, 'Blob');
    onTestFinished(() => blobs.mockRestore());
    expect((await load(url, stores)).bytes).toEqual(new Uint8Array(file));
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0 });
    expect(requests).toHaveLength(1);
    expect(blobs).not.toHaveBeenCalled();
  });

  test.each([0, 2, 4])('storage full at write %d: Blobs hold the rest', async (n) => {
    const { url } = await site(whole);
    const stores = fakeStores();
    stores.pieces.fullAt = n;
    const { bytes, warnings } = await load(url, stores);
    expect(bytes).toEqual(new Uint8Array(file));
    expect(warnings).toMatchObject([{ code: 'cache-full' }]);
    expect(await listModels(stores)).toMatchObject(n === 0 ? [] : [{ isComplete: false }]);
  });

  test.each([0, 999, 1000, 2500, 4499])(
    'cut after byte %d, once or always: never mistaken for the whole file',
    async (at) => {
      const cut: Hook = (request, response) => {
        response.writeHead(200, { etag: '"w"', 'content-length': file.length });
        return response.write(file.subarray(0, at), () => setTimeout(() => request.socket.destroy(), 2)) || true;
      };
      const { url, now } = await mutableSite();
      const stores = fakeStores();
      now.hook = cut;
      await expect(load(url, stores)).rejects.toThrow(/could not be fetched/);
      expect((await listModels(stores)).filter(({ isComplete }) => isComplete)).toEqual([]);
      let cuts = 1;
      now.hook = (...request) => (cuts-- > 0 ? cut(...request) : whole(...request));
      expect((await load(url, stores)).bytes).toEqual(new Uint8Array(file));
      expect((await load(url, stores)).fetched).toBe(0);
      expect(stores.pieces.pieces.size).toBe(PIECES);
    },
  );

  test('a lost piece is an error with a remedy', async () => {
    const { url } = await site(whole);
    const stores = fakeStores();
    const losing = load(url, stores, (step) => step === 0 && stores.pieces.pieces.clear());
    await expect(losing).rejects.toThrow(/lost a part of its 4500 bytes\. Load the model again/);
  });
});

test('canceling at any moment rejects at once, and the next load fetches the missing pieces', async () => {
  const served = await mutableSite();
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.boolean(), async (ticks, hasRanges) => {
      served.now.hook = hasRanges ? () => false : (_, response) => !!response.writeHead(200, { etag: '"w"' }).end(file);
      const stores = fakeStores();
      const cache = await ModelCache.open(served.url, stores, () => {});
      const tab = new AbortController();
      const reason = new Error('the person left');
      const loading = (async () => {
        const source = await urlSource(served.url, { cache, signal: tab.signal }, TUNING);
        await cache.finish('f');
        for (let at = 0; at < source.size; at += 500) await source.read(at, Math.min(500, source.size - at));
      })();
      const ended = loading.then(
        () => null,
        (error: unknown) => error,
      );
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      tab.abort(reason);
      expect([null, reason]).toContain(await ended);
      await cache.close();
      const kept = hasRanges ? stores.pieces.pieces.size : 0;
      const again = await load(served.url, stores);
      expect(again.bytes).toEqual(new Uint8Array(file));
      if (hasRanges) expect(again.fetched).toBeLessThanOrEqual((PIECES - kept) * 1000);
      expect(await load(served.url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0 });
    }),
    { numRuns: 15 },
  );
});

describe('an update of a complete model', () => {
  const asks = true;

  const digest = `sha-256=:${createHash('sha256').update(file).digest('base64')}:`;
  const withDigest: Hook = (request, response) =>
    sendFile(request, response, file, { headers: { 'repr-digest': `sha-512=:AA==:, ${digest}` } });

  test('same version, with a server hash: no weights are fetched', async () => {
    const { url, requests } = await site(withDigest);
    const stores = fakeStores();
    await load(url, stores);
    requests.length = 0;
    expect(await load(url, stores, undefined, asks)).toMatchObject({ bytes: new Uint8Array(file), cached: 4500 });
    expect(requests).toEqual(['f.bin bytes=4000-4999']);
  });

  test('same version, without a server hash: the bytes are compared once', async () => {
    const { url, requests } = await site();
    const stores = fakeStores();
    await load(url, stores);
    expect(await load(url, stores, undefined, asks)).toMatchObject({ bytes: new Uint8Array(file), fetched: 4500 });
    requests.length = 0;
    const third = await load(url, stores, undefined, asks);
    expect(third).toMatchObject({ bytes: new Uint8Array(file), cached: 4500, warnings: [] });
    expect(requests).toEqual(['f.bin bytes=4000-4999']);
  });

  test.each([0, 1, 2, 3, 4])('piece %d was stored damaged: the update replaces it with a warning', async (n) => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    const damage = (part: Buffer) => Buffer.from(part.map((byte) => byte ^ 1));
    now.hook = (request, response) =>
      !!request.headers.range?.startsWith(`bytes=${n * 1000}-`) && sendFile(request, response, file, { body: damage });
    expect((await load(url, stores)).bytes).not.toEqual(new Uint8Array(file));
    now.hook = () => false;
    expect((await load(url, stores)).bytes).not.toEqual(new Uint8Array(file)); // undetectable without a version
    const { bytes, warnings } = await load(url, stores, undefined, asks);
    expect(bytes).toEqual(new Uint8Array(file));
    expect(warnings).toMatchObject([
      { code: 'fetched-again', message: expect.stringMatching(/^f\.bin was kept here with other/) },
    ]);
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0, warnings: [] });
    await expect.poll(() => stores.pieces.pieces.size, { interval: 5 }).toBe(PIECES);
  });

  test('the server fails midway: the cached bytes are used', async () => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    await load(url, stores);
    now.hook = (request, response, nth) => nth > PIECES + 1 && down(request, response, nth);
    expect((await load(url, stores, undefined, asks)).bytes).toEqual(new Uint8Array(file));
  });

  test('a wrong byte under a server hash is an error and is not kept', async () => {
    const wrong = (part: Buffer) => Buffer.from(part.map((byte, i) => (i === 7 ? byte ^ 1 : byte)));
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    now.hook = (request, response) =>
      sendFile(request, response, file, { headers: { 'repr-digest': digest }, body: wrong });
    await expect(load(url, stores)).rejects.toThrow(/f\.bin: has the SHA-256 [0-9a-f]{64} and should have/);
    expect(stores.pieces.pieces.size).toBe(0);
    now.hook = withDigest;
    expect((await load(url, stores)).bytes).toEqual(new Uint8Array(file));
  });

  test('the hash of a compressed answer is ignored', async () => {
    const zipped = gzipSync(file);
    const headers = {
      'content-encoding': 'gzip',
      'content-length': zipped.length,
      'repr-digest': `sha-256=:${createHash('sha256').update(zipped).digest('base64')}:`,
    };
    const { url } = await site((_, response) => !!response.writeHead(200, headers).end(zipped));
    expect((await load(url, fakeStores())).bytes).toEqual(new Uint8Array(file));
  });

  test('a new version is loaded, and the old one deleted', async () => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    await load(url, stores);
    now.hook = (request, response) => sendFile(request, response, noise(9), { headers: { etag: '"v2"' } });
    expect((await load(url, stores)).bytes).toEqual(new Uint8Array(file)); // nobody asked
    expect((await load(url, stores, undefined, asks)).bytes).toEqual(new Uint8Array(noise(9)));
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(noise(9)), fetched: 0 });
    await expect.poll(() => stores.pieces.pieces.size, { interval: 5 }).toBe(PIECES);
  });
});

describe('an interrupted load', () => {
  test.each([0, 1, 2, 3])('continues after piece %d', async (last) => {
    const { url, now, requests } = await mutableSite();
    const stores = fakeStores();
    now.hook = (request, response, nth) => nth > last && down(request, response, nth);
    await expect(load(url, stores)).rejects.toThrow(/500/);
    const here = manifestOf(stores, url).hashes.map((hash) => hash !== null);
    expect(here).toEqual([0, 1, 2, 3, 4].map((index) => index <= last));
    now.hook = () => false;
    requests.length = 0;
    const second = await load(url, stores);
    expect(second).toMatchObject({ bytes: new Uint8Array(file), cached: (last + 1) * 1000 });
    expect(new Set(requests).size).toBe(PIECES - 1 - last); // a late piece of the first load may still arrive
    now.hook = down;
    expect((await load(url, stores)).fetched).toBe(0);
  });

  const changes: [string, Record<string, string>, Buffer][] = [
    ['another ETag', { etag: '"v2"' }, noise(3)],
    ['another length', {}, noise(3).subarray(0, 3700)],
    ['a length before the first missing piece', {}, noise(3).subarray(0, 900)],
    ['no version', { etag: '' }, noise(3)],
  ];
  test.each(changes)('with a file of %s since: no old byte is used', async (_, headers, newer) => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    now.hook = (request, response, nth) => nth > 2 && down(request, response, nth);
    await expect(load(url, stores)).rejects.toThrow(/500/);
    now.hook = (request, response) => {
      const first = Number(/=(\d+)/.exec(request.headers.range ?? '')?.[1]);
      if (first >= newer.length) return !!response.writeHead(416).end();
      return sendFile(request, response, newer, { headers });
    };
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(newer), cached: 0 });
  });

  test('canceled: the arrived pieces are kept', async () => {
    const { url } = await site();
    const stores = fakeStores();
    const cache = await ModelCache.open(url, stores, () => {});
    const aborter = new AbortController();
    const source = await urlSource(url, { cache, signal: aborter.signal }, TUNING);
    await source.read(0, 2500);
    aborter.abort(new Error('the person left'));
    await expect(source.read(2500, 10)).rejects.toThrow('the person left');
    expect(manifestOf(stores, url).hashes.filter((hash) => hash !== null).length).toBeGreaterThanOrEqual(3);
  });
});

describe('storage that fails', () => {
  test.each([0, 1, 2, 3, 4])(
    'full at write %d: the load continues with one warning, and stored pieces are used',
    async (n) => {
      const { url } = await site();
      const stores = fakeStores();
      stores.pieces.fullAt = n;
      const first = await load(url, stores);
      expect(first.bytes).toEqual(new Uint8Array(file));
      // Pieces are hashed side by side, so the short last one may be written before the one in front of it.
      const keptBytes = [...stores.pieces.pieces.values()].reduce((sum, { length }) => sum + length, 0);
      expect([n * 1000, n * 1000 - 500]).toContain(keptBytes);
      expect(first.warnings).toEqual([
        {
          code: 'cache-full',
          message: expect.stringMatching(/storage is full.*0\.0 MB.*No other model is kept/),
          facts: { requestedBytes: file.length, keptBytes },
        },
      ]);
      expect(stores.pieces.pieces.size).toBe(n);
      stores.pieces.fullAt = Number.POSITIVE_INFINITY;
      const second = await load(url, stores);
      expect([second.bytes, second.cached, second.warnings]).toEqual([new Uint8Array(file), keptBytes, []]);
      expect((await load(url, stores)).fetched).toBe(0);
    },
  );

  test('full: names the models that could be deleted, the largest first', async () => {
    const served = await serve({ 'a.bin': file, 'b.bin': Buffer.concat([noise(5), noise(6)]), 'c.bin': noise(7) });
    const stores = fakeStores();
    await load(`${served.url}a.bin`, stores);
    await load(`${served.url}b.bin`, stores);
    stores.pieces.fullAt = 0;
    const { warnings } = await load(`${served.url}c.bin`, stores);
    expect(warnings[0].message).toMatch(/Delete a model that is kept to make room: f \(0\.0 MB\), f \(0\.0 MB\)\.$/);
  });

  test('a database that refuses writes works like no cache', async () => {
    const { url } = await site();
    const stores = fakeStores();
    stores.manifests.refuses = true;
    const warnings = [{ code: 'storage-refused', message: expect.stringContaining('refused (no database)') }];
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 4500, warnings });
    expect(stores.manifests.values.size).toBe(0);
  });
});

describe('deletion', () => {
  test('during a load, after any step: the load succeeds, and nothing is stored again', async () => {
    for (let at = 0; at < 9; at++) {
      const { url } = await site();
      const stores = fakeStores();
      const remove = (step: number) => step === at && deleteModel(stores, url);
      expect((await load(url, stores, remove)).bytes).toEqual(new Uint8Array(file));
      expect(await listModels(stores)).toEqual([]);
      expect(stores.manifests.values.size).toBe(0);
    }
  });

  test('during a load from the cache: the rest comes from the network', async () => {
    const { url } = await site();
    const stores = fakeStores();
    await load(url, stores);
    const second = await load(url, stores, (step) => step === 2 && deleteModel(stores, url));
    expect(second.bytes).toEqual(new Uint8Array(file));
    expect(second.fetched).toBeGreaterThan(0);
    expect(await listModels(stores)).toEqual([]);
  });

  test('keeps the files that another model shares, and removes old strays only', async () => {
    const served = await serve({ 'a.bin': file, 'b.bin': Buffer.concat([file.subarray(0, 1000), noise(5)]) });
    const [a, b] = [`${served.url}a.bin`, `${served.url}b.bin`];
    const stores = fakeStores();
    await load(a, stores);
    await load(b, stores);
    const stray = 'f'.repeat(64);
    stores.pieces.pieces.set(stray, new Uint8Array(3));
    stores.manifests.values.set('file nonsense', { url: 5 });
    await deleteModel(stores, a);
    expect((await listModels(stores)).map(({ location }) => location)).toEqual([b]);
    expect(stores.pieces.pieces.has(stray)).toBe(true);
    expect(stores.pieces.pieces.size).toBe(6 + 1);
    expect(stores.manifests.values.has('file nonsense')).toBe(false);
    expect((await load(b, stores)).fetched).toBe(0);
    stores.pieces.age = 2 * 60 * 60 * 1000;
    await deleteModel(stores, b);
    expect(stores.pieces.pieces.size).toBe(0);
    expect(stores.manifests.values.size).toBe(0);
  });
});

describe('two tabs that load one model concurrently', () => {
  test('fetch every piece once, both correctly', async () => {
    const { url, requests } = await site();
    const stores = fakeStores();
    const results = await Promise.all([load(url, stores), load(url, stores)]);
    for (const { bytes } of results) expect(bytes).toEqual(new Uint8Array(file));
    expect(results.reduce((sum, { fetched }) => sum + fetched, 0)).toBe(4500);
    expect(requests).toHaveLength(PIECES);
    expect(await listModels(stores)).toMatchObject([{ bytes: 4500, totalBytes: 4500, isComplete: true }]);
    expect((await load(url, stores)).fetched).toBe(0);
  });

  test('a tab that came first and asks second fetches nothing twice, however fast the other was', async () => {
    const { url, requests } = await site();
    const stores = fakeStores();
    vi.spyOn(Date, 'now').mockReturnValue(1_795_000_000_000);
    onTestFinished(() => void vi.restoreAllMocks());
    stores.manifests.join = async () => ({ others: false, leave() {} }); // the first hears of no other
    const results = await Promise.all([load(url, stores), load(url, stores)]);
    for (const { bytes } of results) expect(bytes).toEqual(new Uint8Array(file));
    expect(requests).toHaveLength(PIECES);
  });

  test('what an earlier load left counts as earlier, also if this load began in the same millisecond', async () => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    vi.spyOn(Date, 'now').mockReturnValue(1_795_000_000_000);
    onTestFinished(() => void vi.restoreAllMocks());
    now.hook = (request, response, nth) => nth > 1 && down(request, response, nth);
    await expect(load(url, stores)).rejects.toThrow(/500/);
    const newer = noise(3);
    now.hook = (request, response) => sendFile(request, response, newer, { headers: { etag: '"v2"' } });
    expect((await load(url, stores)).bytes).toEqual(new Uint8Array(newer));
  });

  test('a second tab fetches nothing twice, ahead of the first or behind', async () => {
    const { url, requests } = await site();
    const stores = fakeStores();
    let second: Promise<Load> | null = null;
    const first = await load(url, stores, async (step) => {
      if (step === 3) second = load(url, stores);
      if (step === 5) await second; // the first waits, the second continues alone
    });
    expect([first.bytes, (await second!).bytes]).toEqual([new Uint8Array(file), new Uint8Array(file)]);
    expect(requests).toHaveLength(PIECES);
  });

  test('when the first dies, the second continues', async () => {
    const { url } = await site();
    const stores = fakeStores();
    let second: Promise<Load> | null = null;
    const first = load(url, stores, (step) => {
      second ??= load(url, stores);
      if (step === 3) throw new Error('the tab was closed');
    });
    await expect(first).rejects.toThrow('was closed');
    expect((await second!).bytes).toEqual(new Uint8Array(file));
  });

  test.each<[string, Record<string, string>]>([
    ['whose version no one tells', { etag: '' }],
    ['of which an older version is here in part', { etag: '"v2"' }],
  ])('a file %s: both are correct', async (_, headers) => {
    const { url, now } = await mutableSite();
    const stores = fakeStores();
    const newer = noise(3);
    now.hook = (request, response, nth) => nth > 1 && down(request, response, nth);
    await expect(load(url, stores)).rejects.toThrow(/500/);
    now.hook = (request, response) => sendFile(request, response, newer, { headers });
    for (const { bytes } of await Promise.all([load(url, stores), load(url, stores)])) {
      expect(bytes).toEqual(new Uint8Array(newer));
    }
  });

  test('with full storage, each tab fetches for itself', async () => {
    const { url } = await site();
    const stores = fakeStores();
    stores.pieces.fullAt = 1;
    for (const { bytes } of await Promise.all([load(url, stores), load(url, stores)])) {
      expect(bytes).toEqual(new Uint8Array(file));
    }
  });
});

describe('hostile manifests', () => {
  const hash = 'a'.repeat(64);
  const sound: FileManifest = {
    url: 'u',
    size: 4500,
    version: '"v1"',
    pieceBytes: 1000,
    hashes: [hash, null, null, null, hash],
    savedAt: 1,
  };
  const holes = new Array(5);
  holes[0] = hash;

  test('a valid one is read', () => {
    expect(parseFile('u', sound)).toEqual(sound);
    expect(parseFile('u', { ...sound, size: 0, hashes: [] })).not.toBe(null);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a list', [sound]],
    ['another URL', { ...sound, url: 'v' }],
    ['too few hashes', { ...sound, hashes: [hash] }],
    ['too many hashes', { ...sound, hashes: [...sound.hashes, hash] }],
    ['holes', { ...sound, hashes: holes }],
    ['a path for a hash', { ...sound, hashes: ['../../x', null, null, null, null] }],
    ['a size below 0', { ...sound, size: -1 }],
    ['a size past 2^53', { ...sound, size: 2 ** 60 }],
    ['no number', { ...sound, size: '4500' }],
    ['pieces of nothing', { ...sound, pieceBytes: 0 }],
    ['pieces of a fraction', { ...sound, pieceBytes: 0.5 }],
    ['a piece of a terabyte', { ...sound, size: 2 ** 40, pieceBytes: 2 ** 40, hashes: [hash] }],
    ['a version that is none', { ...sound, version: 7 }],
    ['no date', { ...sound, savedAt: Number.NaN }],
    ['a hash of itself that is none', { ...sound, seal: 'a' }],
    ['a hash of itself, and values that no one can write down', { ...sound, seal: hash, sha256: 1n, isEnough: 1n }],
  ])('%s', (_, manifest) => expect(parseFile('u', manifest)).toBe(null));

  const location = 'https://example.com/m.gguf';
  const model = { location, name: 'n', files: ['u'], absent: [], isOpened: true, usedAt: 1 };
  test.each<[string, unknown]>([
    ['another location', { ...model, location: `${location}?` }],
    ['files that are no text', { ...model, files: [{}] }],
    ['endless files', { ...model, files: new Array(5000).fill('u') }],
    ['an endless name', { ...model, name: 'n'.repeat(10_000) }],
    ['isOpened for no boolean', { ...model, isOpened: 1 }],
    ['no date', { ...model, usedAt: 'today' }],
    ['a hash of itself that is none', { ...model, seal: 'a' }],
  ])('of a model: %s', (_, manifest) => expect(parseModel(location, manifest)).toBe(null));

  test('a resolved repository with an invalid commit or a climbing path is dropped', () => {
    const commit = 'c'.repeat(40);
    const read = (resolved: unknown) => parseModel(location, { ...model, resolved })?.resolved;
    expect(read({ commit, file: 'a/b.gguf' })).toEqual({ commit, file: 'a/b.gguf' });
    expect(read({ commit: '', file: '' })).toEqual({ commit: '', file: '' });
    for (const wrong of [
      { commit: 'main', file: '' },
      { commit, file: '../../other/x.gguf' },
      { commit, file: 7 },
      commit,
    ]) {
      expect(read(wrong)).toBeUndefined();
    }
  });

  test("a whole file's hash counts only with all pieces", () => {
    const whole = { ...sound, hashes: new Array(5).fill(hash) };
    expect(parseFile('u', { ...whole, sha256: hash })?.sha256).toBe(hash);
    expect(parseFile('u', { ...sound, sha256: hash })?.sha256).toBeUndefined();
    expect(parseFile('u', { ...whole, sha256: '../x' })?.sha256).toBeUndefined();
  });

  test.each(['m', 'javascript:alert(1)', 'https://[', ''])('of a model at %o, which cannot be loaded', (place) => {
    expect(parseModel(location, model)).toEqual(model);
    expect(parseModel(place, { ...model, location: place })).toBe(null);
  });

  test('are ignored: the model is loaded and stored again', async () => {
    const { url } = await site();
    const stores = fakeStores();
    stores.manifests.values.set(`file ${url}`, { ...sound, url, hashes: [hash] });
    stores.manifests.values.set(`model ${url}`, { ...model, location: 8 });
    expect(await listModels(stores)).toEqual([]);
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), cached: 0 });
    expect((await load(url, stores)).fetched).toBe(0);
  });

  const rotate = (list: (string | null)[]) => [...list.slice(1, 4), list[0], list[4]]; // the last is shorter
  test.each<[string, (known: FileManifest) => Partial<FileManifest>]>([
    ['hashes in another order', ({ hashes }) => ({ hashes: rotate(hashes) })],
    ['another size', ({ size }) => ({ size: size + 1 })],
    ['another version', () => ({ version: '"v0"' })],
    ['a hash of the whole that is none', () => ({ sha256: 'b'.repeat(64) })],
    ['pieces that are said to be enough', ({ hashes }) => ({ hashes: hashes.with(2, null), isEnough: true })],
  ])('a manifest with %s is ignored', async (_, damage) => {
    const { url } = await site();
    const stores = fakeStores();
    await load(url, stores);
    const known = manifestOf(stores, url);
    stores.manifests.values.set(`file ${url}`, { ...known, ...damage(known) });
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 4500 });
    expect(await load(url, stores)).toMatchObject({ bytes: new Uint8Array(file), fetched: 0 });
  });

  test('a manifest with foreign pieces never gives bytes other than those pieces', async () => {
    const { url } = await site();
    const stores = fakeStores();
    await load(url, stores);
    const known = manifestOf(stores, url);
    stores.manifests.values.set(`file ${url}`, { ...known, hashes: known.hashes.with(1, hash) });
    expect((await load(url, stores)).bytes).toEqual(new Uint8Array(file));
  });
});

describe('a folder', () => {
  const files = {
    'm/config.json': '{"model_type":"llama"}',
    'm/tokenizer.json': '{"model":{"type":"BPE"}}',
    'm/model.safetensors': writeSafetensors({ a: { dtype: 'F32', shape: [2], data: ramp(8) } }),
  };

  async function open(url: string, stores: FakeStores, asks = false) {
    const cache = await ModelCache.open(url, stores, () => {}, asks);
    try {
      const model = await openModel(url, { cache });
      for (const tensor of model.tensors.values()) await tensor.read(0, tensor.byteLength);
      return model;
    } finally {
      await cache.close();
    }
  }

  test('opens without a request once complete, including its absent files', async () => {
    const served = await serve(files);
    const stores = fakeStores();
    const first = await open(`${served.url}m`, stores);
    expect(await listModels(stores)).toMatchObject([{ location: `${served.url}m`, name: 'm', isComplete: true }]);
    served.requests.length = 0;
    for (let again = 0; again < 3; again++) {
      expect(await open(`${served.url}m`, stores)).toMatchObject({ config: first.config, tokenizerConfig: null });
    }
    expect(served.requests).toEqual([]);
  });

  test('is complete, too, where pages of HTML without a type stand for its absent files', async () => {
    const page: Hook = (request, response) =>
      !Object.hasOwn(files, new URL(request.url ?? '', 'http://h').pathname.slice(1)) &&
      !!response.writeHead(200).end('<!doctype html>');
    const served = await serve(files, page);
    const stores = fakeStores();
    await open(`${served.url}m`, stores);
    served.requests.length = 0;
    await open(`${served.url}m`, stores);
    expect(served.requests).toEqual([]);
  });

  test('stays as it is after an update from a server that has lost its files', async () => {
    const now: { hook: Hook } = { hook: () => false };
    const served = await serve(files, (...request) => now.hook(...request));
    const stores = fakeStores();
    const first = await open(`${served.url}m`, stores);
    now.hook = (_, response) => !!response.writeHead(404).end();
    expect((await open(`${served.url}m`, stores, true)).config).toEqual(first.config);
    expect((await open(`${served.url}m`, stores)).config).toEqual(first.config);
  });

  test('with only some needed weights is sufficient until one of them is lost', async () => {
    const sizes = { a: 8, picture: 12_000_000, z: 8 };
    let end = 0;
    const header = Object.entries(sizes).map(([name, size]) => {
      end += size;
      return [name, { dtype: 'F32', shape: [size / 4], data_offsets: [end - size, end] }];
    });
    const weights = withHeader(JSON.stringify(Object.fromEntries(header)), ramp(end));
    const served = await serve({ ...files, 'm/model.safetensors': weights });
    const stores = fakeStores();
    const use = async () => {
      const cache = await ModelCache.open(`${served.url}m`, stores, () => {});
      const model = await openModel(`${served.url}m`, { cache });
      const read = [await model.tensors.get('a')!.read(0, 8), await model.tensors.get('z')!.read(0, 8)];
      cache.noteLoaded();
      await cache.close();
      return read;
    };
    const first = await use();
    const [known] = await listModels(stores);
    expect(known).toMatchObject({ isComplete: true, bytes: known.totalBytes });
    expect(known.bytes).toBeLessThan(10_000_000);
    served.requests.length = 0;
    expect(await use()).toEqual(first);
    expect(served.requests).toEqual([]);
    const manifest = stores.manifests.values.get(`file ${served.url}m/model.safetensors`) as FileManifest;
    stores.pieces.pieces.delete(manifest.hashes.findLast((hash) => hash !== null)!);
    expect(await use()).toEqual(first);
    expect(served.requests).toHaveLength(1);
    served.requests.length = 0;
    expect(await use()).toEqual(first);
    expect(served.requests).toEqual([]);
  });

  test('whose damaged record lists a file as absent is not believed', async () => {
    const served = await serve(files);
    const stores = fakeStores();
    await open(`${served.url}m`, stores);
    const record = stores.manifests.values.get(`model ${served.url}m`) as ModelManifest;
    record.absent.push(`${served.url}m/model.safetensors`);
    expect(await open(`${served.url}m`, stores)).toMatchObject({ format: 'safetensors' });
  });

  test('that is incomplete fetches its small files again', async () => {
    const now = { config: files['m/config.json'] };
    const served = await serve(files, (request, response) => {
      if (!request.url?.endsWith('config.json') || request.url.includes('_config')) return false;
      return !!response.writeHead(200, { etag: now.config }).end(now.config);
    });
    const stores = fakeStores();
    await open(`${served.url}m`, stores);
    const weights = stores.manifests.values.get(`file ${served.url}m/model.safetensors`) as FileManifest;
    weights.hashes[0] = null;
    now.config = '{"model_type":"newer"}';
    expect((await open(`${served.url}m`, stores)).config).toEqual({ model_type: 'newer' });
  });

  test('that cannot be opened is not a complete model', async () => {
    const served = await serve({ 'm/config.json': files['m/config.json'] });
    const stores = fakeStores();
    await expect(open(`${served.url}m`, stores)).rejects.toThrow(/model.safetensors/);
    expect((await listModels(stores)).filter(({ isComplete }) => isComplete)).toEqual([]);
    const later = await serve(files);
    expect(await open(`${later.url}m`, stores)).toMatchObject({ format: 'safetensors' });
  });

  test('a .gguf with its own tokenizer is one file', async () => {
    const gguf = writeGguf({
      keys: [['tokenizer.ggml.tokens', value.strings(['a'])]],
      tensors: [{ name: 'w', ne: [4], data: ramp(16) }],
    });
    const served = await serve({ 'x.gguf': gguf });
    const stores = fakeStores();
    await open(`${served.url}x.gguf`, stores);
    served.requests.length = 0;
    expect((await open(`${served.url}x.gguf`, stores)).name).toBe('x.gguf');
    expect(served.requests).toEqual([]);
  });
});
