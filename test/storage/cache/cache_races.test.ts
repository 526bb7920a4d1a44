// Concurrent loads, updates, cancels and deletions of one model, on slow storage that fills up and loses data, from a
// server that fails, changes its file, and may know neither ranges nor versions. No wrong byte may be read, and all
// must be well afterwards.

import type { IncomingMessage, ServerResponse } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ModelCache } from '../../../src/storage/cache/cache';
import { deleteModel, listModels } from '../../../src/storage/cache/cached_models';
import { urlSource } from '../../../src/storage/source/url_source';
import { type FakeStores, fakeStores } from '../fake_stores';
import { sendFile, serve } from '../serve';
import { ramp } from '../write_gguf';

const TUNING = { windowBytes: 1000, retryDelaysMs: [1], stallMs: 60_000 };
const PIECES = 5;
const versionOf = (n: number) => Buffer.from(ramp(4500).map((byte, i) => byte ^ (i >> 8) ^ n));

async function ticks(n: number): Promise<void> {
  for (let tick = 0; tick < n; tick++) await new Promise((resolve) => setImmediate(resolve));
}

/** Storage whose reads, writes and removals take random times. */
function slowStores(pick: (below: number) => number): FakeStores {
  const stores = fakeStores();
  const slow =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      await ticks(pick(3));
      return call(...args);
    };
  const { pieces, manifests } = stores;
  pieces.read = slow(pieces.read.bind(pieces));
  pieces.write = slow(pieces.write.bind(pieces));
  pieces.remove = slow(pieces.remove.bind(pieces));
  manifests.get = slow(manifests.get.bind(manifests));
  return stores;
}

test('concurrent operations never give a wrong byte, and later loads are complete without a request', async () => {
  const server = { hasRanges: true, hasVersions: true, failsOneIn: 0, version: 0 };
  let pick: (below: number) => number = () => 0;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (server.failsOneIn > 0 && pick(server.failsOneIn) === 0) return !!response.writeHead(500).end();
    const headers = { etag: server.hasVersions ? `"${server.version}"` : '' };
    if (!server.hasRanges) return !!response.writeHead(200, headers).end(versionOf(server.version));
    return sendFile(request, response, versionOf(server.version), { headers });
  };
  const served = await serve({}, answer);
  const url = `${served.url}f.bin`;

  /** The version read, or null after an error. Ends early after `cancelAt` ticks. */
  async function load(stores: FakeStores, asks: boolean, cancelAt = 0): Promise<number | null> {
    const cache = await ModelCache.open(url, stores, () => {}, asks);
    const tab = new AbortController();
    if (cancelAt > 0) void ticks(cancelAt).then(() => tab.abort(new Error('the person left')));
    try {
      const source = await urlSource(url, { cache, signal: tab.signal }, TUNING);
      await cache.finish('f');
      const parts: Uint8Array[] = [];
      for (let at = 0; at < source.size; at += 500) parts.push(await source.read(at, Math.min(500, source.size - at)));
      cache.noteLoaded();
      return [0, 1, 2, 3, 4].findIndex((n) => versionOf(n).equals(Buffer.concat(parts)));
    } catch {
      return null;
    } finally {
      tab.abort();
      await cache.close();
    }
  }

  async function happen(stores: FakeStores): Promise<unknown> {
    const names = [...stores.pieces.pieces.keys()];
    switch (pick(10)) {
      case 0:
        return deleteModel(stores, url);
      case 1:
        stores.pieces.fullAt = stores.pieces.writes + pick(4);
        return null;
      case 2:
        if (names.length > 0) stores.pieces.pieces.delete(names[pick(names.length)]);
        return null;
      case 3:
        if (server.hasVersions) server.version++;
        return null;
      default:
        return load(stores, pick(3) === 0, pick(5) < 2 ? 1 + pick(40) : 0);
    }
  }

  const steps = fc.array(fc.nat(30), { minLength: 2, maxLength: 4 });
  const property = fc.asyncProperty(
    steps,
    fc.boolean(),
    fc.boolean(),
    fc.nat(),
    async (pauses, ranges, versions, seed) => {
      let state = (seed % 2147483646) + 1;
      pick = (below) => {
        state = (state * 48271) % 2147483647; // Park and Miller
        return state % below;
      };
      Object.assign(server, { hasRanges: ranges, hasVersions: versions, failsOneIn: pick(2) * 10, version: 0 });
      const stores = slowStores((below) => pick(below));
      const happening: Promise<unknown>[] = [];
      for (const pause of pauses) {
        happening.push(happen(stores));
        await ticks(pause);
      }
      expect(await Promise.all(happening)).not.toContain(-1);
      await ticks(5);

      server.failsOneIn = 0;
      stores.pieces.fullAt = Number.POSITIVE_INFINITY;
      await load(stores, true); // a lost piece may first report the version before
      await ticks(20);
      for (const asks of [true, false]) expect(await load(stores, asks)).toBe(server.version);
      expect(await listModels(stores)).toMatchObject([{ isComplete: true, bytes: 4500 }]);
      const { length } = served.requests;
      expect(await load(stores, false)).toBe(server.version);
      expect(served.requests).toHaveLength(length);
      expect(stores.pieces.pieces.size).toBeGreaterThanOrEqual(PIECES);
      stores.pieces.age = 1e10;
      await deleteModel(stores, url);
      expect([stores.pieces.pieces.size, stores.manifests.values.size]).toEqual([0, 0]);
    },
  );
  await fc.assert(property, { numRuns: 150 });
});
