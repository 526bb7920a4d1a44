// Models of a hub, from the id to every byte of every tensor, on correct and on faulty hubs.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ModelFetchError, ModelFileError } from '../../../src/errors';
import { ModelCache } from '../../../src/storage/cache/cache';
import { deleteModel, listModels } from '../../../src/storage/cache/cached_models';
import { ggufChoices } from '../../../src/storage/hub/hub';
import { resolveUrl } from '../../../src/storage/hub/model_url';
import { openModel } from '../../../src/storage/model_file';
import { HTTP_TUNING } from '../../../src/storage/source/http';
import { cutAfter, type FakeHub, fakeHub, type HubFiles } from '../fake_hub';
import { type FakeStores, fakeStores } from '../fake_stores';
import { ramp, value, writeGguf } from '../write_gguf';
import { writeSafetensors } from '../write_safetensors';

Object.assign(HTTP_TUNING, { windowBytes: 1000, retryDelaysMs: [1, 1, 1], stallMs: 60_000 });

const noise = (n: number, seed = 0) => ramp(n).map((byte, i) => byte ^ (i >> 8) ^ seed);
const weights = (seed = 0) => writeSafetensors({ w: { dtype: 'F32', shape: [1125], data: noise(4500, seed) } });
const SAFE: HubFiles = { 'config.json': '{"model_type":"llama"}', 'model.safetensors': weights() };
const gguf = (name: string) =>
  writeGguf({
    keys: [
      ['general.name', value.string(name)],
      ['tokenizer.ggml.tokens', value.strings(['a'])],
    ],
    tensors: [{ name: 'w', ne: [600], data: noise(2400) }],
  });

let hub: FakeHub;
let stores: FakeStores;

beforeEach(async () => {
  hub = await fakeHub();
  stores = fakeStores();
});
afterEach(() => hub.close());

interface Loaded {
  name: string;
  bytes: Uint8Array;
  format: string;
  config: unknown;
  title: unknown;
  warnings: string[];
  fetched: number;
}

/** Opens a model as the engine does, and reads all of it. */
async function load(id: string, { asks = false, kept = true } = {}): Promise<Loaded> {
  const place = resolveUrl(id, hub.url).href;
  const warnings: string[] = [];
  const onWarning = ({ message }: { message: string }) => void warnings.push(message);
  const cache = kept ? await ModelCache.open(place, stores, onWarning, asks) : null;
  const tab = new AbortController();
  let fetched = 0;
  const onBytes = (n: number, fromCache?: boolean) => {
    if (!fromCache) fetched += n;
  };
  try {
    const model = await openModel(place, { cache, onWarning, onBytes, hub: hub.url, signal: tab.signal });
    const parts: Uint8Array[] = [];
    for (const tensor of model.tensors.values()) parts.push(await tensor.read(0, tensor.byteLength));
    const { name, format, config } = model;
    const title = model.gguf?.get('general.name');
    return { name, format, config, title, warnings, fetched, bytes: new Uint8Array(Buffer.concat(parts)) };
  } finally {
    tab.abort();
    await cache?.close();
  }
}

const file = async (files: HubFiles) => {
  hub.push('o/r', files);
  return load('hf:o/r');
};

describe('a repository', () => {
  test('of safetensors: one commit, one redirect per file, hashes checked', async () => {
    const commit = hub.push('o/r', SAFE);
    const loaded = await load('hf:o/r');
    expect(loaded).toMatchObject({ name: 'r', format: 'safetensors', config: { model_type: 'llama' }, warnings: [] });
    expect(loaded.bytes).toEqual(noise(4500));
    const resolved = hub.requests.filter((line) => line.includes('/resolve/'));
    expect(resolved.every((line) => line.includes(`o/r/resolve/${commit}/`))).toBe(true);
    expect(resolved.filter((line) => /^hub .*model\.safetensors/.test(line))).toHaveLength(1);
    expect(resolved.filter((line) => /^store .*model\.safetensors/.test(line))).toHaveLength(5);
  });

  test('loads again without a request, and updates to a newer commit on demand', async () => {
    hub.push('o/r', SAFE);
    await load('hf:o/r');
    hub.requests.length = 0;
    hub.push('o/r', { ...SAFE, 'model.safetensors': weights(1) });
    expect(await load('hf:o/r')).toMatchObject({ fetched: 0, bytes: noise(4500) });
    expect(hub.requests).toEqual([]);
    expect((await load('hf:o/r', { asks: true })).bytes).toEqual(noise(4500, 1));
    hub.requests.length = 0;
    expect(await load('hf:o/r')).toMatchObject({ fetched: 0, bytes: noise(4500, 1) });
    expect(hub.requests).toEqual([]);
    // The old version's pieces are gone.
    await expect.poll(() => stores.pieces.pieces.size, { interval: 5 }).toBe(1 + 5);
    expect(await listModels(stores)).toMatchObject([{ name: 'r', isComplete: true }]);
    await deleteModel(stores, `${hub.url}/o/r/resolve/main/`);
    expect([stores.pieces.pieces.size, stores.manifests.values.size]).toEqual([0, 0]);
  });

  test('shares unchanged files between commits without fetching them', async () => {
    hub.push('o/r', SAFE);
    await load('hf:o/r');
    hub.requests.length = 0;
    hub.push('o/r', { ...SAFE, 'config.json': '{"model_type":"newer"}' });
    expect((await load('hf:o/r', { asks: true })).config).toEqual({ model_type: 'newer' });
    expect(hub.requests.filter((line) => /^store/.test(line)).length).toBe(1); // its version
  });

  test('stays at its commit when updating without a network', async () => {
    hub.push('o/r', SAFE);
    await load('hf:o/r');
    hub.close();
    expect(await load('hf:o/r', { asks: true })).toMatchObject({ fetched: 0, bytes: noise(4500) });
    expect(await load('hf:o/r')).toMatchObject({ fetched: 0 });
  });

  test('with a lost piece and without a network: one attempt, not two', async () => {
    hub.push('o/r', SAFE);
    await load('hf:o/r');
    stores.pieces.pieces.clear();
    hub.requests.length = 0;
    hub.faults.hook = (request) => !!request.socket.destroy();
    await expect(load('hf:o/r')).rejects.toThrow(/could not be fetched/);
    expect(hub.requests.filter((line) => line.includes('config.json'))).toHaveLength(4);
  });

  test('interrupted while updating: the old commit still loads without a network', async () => {
    hub.push('o/r', SAFE);
    await load('hf:o/r');
    hub.push('o/r', { ...SAFE, 'model.safetensors': weights(1) });
    hub.faults.hook = (_, response, nth) => nth > 3 && !!response.writeHead(500).end();
    await expect(load('hf:o/r', { asks: true })).rejects.toThrow(/500/);
    hub.close();
    expect(await load('hf:o/r')).toMatchObject({ fetched: 0, bytes: noise(4500) });
  });

  test('at a revision', async () => {
    const old = hub.push('o/r', SAFE);
    hub.push('o/r', { ...SAFE, 'model.safetensors': weights(1) });
    expect((await load(`hf:o/r@${old}`)).bytes).toEqual(noise(4500));
    await expect(load('hf:o/r@none')).rejects.toThrow(/There is no config\.json in /);
  });

  test('on a mirror that is a plain folder', async () => {
    hub.faults.noListing = true;
    expect((await file(SAFE)).bytes).toEqual(noise(4500));
    expect(hub.requests.some((line) => line.includes('resolve/main/config.json'))).toBe(true);
    hub.requests.length = 0;
    expect((await load('hf:o/r')).fetched).toBe(0);
    expect(hub.requests).toEqual([]);
  });

  test('with a listing whose every field is false', async () => {
    for (const listing of [
      '[]',
      '{"sha":"main","siblings":[]}',
      `{"sha":"${'a'.repeat(40)}","siblings":{}}`,
      '{"sha":',
      '<!doctype html>',
    ]) {
      hub.faults.hook = (request, response) =>
        !!request.url?.startsWith('/api/') &&
        !!response.writeHead(200, { 'content-type': 'application/json' }).end(listing);
      expect((await file(SAFE)).bytes).toEqual(noise(4500));
    }
  });
});

describe('a repository of GGUF files', () => {
  const README = { 'README.md': '#' };

  test('the only one is chosen without a warning', async () => {
    const loaded = await file({ ...README, 'm-Q8_0.gguf': gguf('q8'), 'mmproj-F16.gguf': gguf('vision') });
    expect(loaded).toMatchObject({ title: 'q8', name: 'm-Q8_0.gguf', warnings: [] });
    hub.close();
    expect(await load('hf:o/r')).toMatchObject({ title: 'q8', fetched: 0 });
  });

  test('among several, a common one is chosen with a warning', async () => {
    const loaded = await file({ 'm-Q2_K.gguf': gguf('q2'), 'm.Q4_K_M.gguf': gguf('q4'), 'm-F16.gguf': gguf('f16') });
    expect(loaded.title).toBe('q4');
    expect(loaded.warnings).toEqual([expect.stringMatching(/Of the 3 .*this is Q4_K_M\..*F16 \(0 MB\).*Q2_K.*o\/r:/)]);
  });

  test.each([
    ['hf:o/r:q8_0', 'q8'],
    ['hf:o/r:Q2_K', 'q2'],
    ['hf:o/r/m-Q2_K.gguf', 'q2'],
    ['hf:o/r/sub/m-Q8_0.gguf', 'q8'],
  ])('%s is %s, and is cached as such', async (id, title) => {
    hub.push('o/r', { 'm-Q2_K.gguf': gguf('q2'), 'sub/m-Q8_0.gguf': gguf('q8') });
    expect(await load(id)).toMatchObject({ title, warnings: [] });
    hub.close();
    expect(await load(id)).toMatchObject({ title, fetched: 0 });
  });

  test.each([
    ['UD-Q4_K_XL', 'dynamic'],
    ['ud-q4_k_xl', 'dynamic'],
    ['Q4_K_M', 'q4'],
  ])('the quantization %s, as hubs and llama.cpp name it, is %s', async (quantization, title) => {
    hub.push('o/r', { 'm-UD-Q4_K_XL.gguf': gguf('dynamic'), 'm-Q4_K_M.gguf': gguf('q4') });
    expect(await load(`hf:o/r:${quantization}`)).toMatchObject({ title });
  });

  test.each([
    ['hf:o/r', /holds 2 quantizations: IQ3_XS \(0 MB\), Q2_K \(0 MB\)\. Name one, as in o\/r:IQ3_XS/],
    ['hf:o/r:Q8_0', /has no quantization Q8_0\. There are: IQ3_XS .*Q2_K/],
  ])('%s is an error with the list', async (id, message) => {
    hub.push('o/r', { 'm-Q2_K.gguf': gguf('q'), 'm-IQ3_XS.gguf': gguf('q') });
    await expect(load(id)).rejects.toThrow(message);
    await expect(load(id)).rejects.toBeInstanceOf(ModelFileError);
  });

  test('the parts of a split file count as one', () => {
    const part = (i: number) => ({ path: `Q8_0/m-Q8_0-0000${i}-of-00002.gguf`, size: 5, sha256: null });
    expect(ggufChoices([part(2), part(1)])).toEqual([{ path: part(1).path, label: 'Q8_0', bytes: 10 }]);
  });

  test('with a config.json that names a GGUF, that one; otherwise by quantization', async () => {
    const named = { 'config.json': '{"gguf_file":"b-Q8_0.gguf"}', 'a-Q4_0.gguf': gguf('a'), 'b-Q8_0.gguf': gguf('b') };
    expect((await file(named)).title).toBe('b');
    expect((await file({ ...named, 'config.json': '{"model_type":"llama"}' })).title).toBe('b'); // from the cache
    stores = fakeStores();
    expect((await file({ ...named, 'config.json': '{"model_type":"llama"}' })).title).toBe('a');
  });
});

describe('a faulty hub', () => {
  test("a hash other than the listing's: an error with both, and nothing is kept", async () => {
    hub.faults.wrongHash = 'model.safetensors';
    const error = await file(SAFE).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelFileError);
    expect(String(error)).toMatch(/model\.safetensors: has the SHA-256 [0-9a-f]{64} and should have f{64}/);
    expect(stores.pieces.pieces.size).toBe(1); // config.json
    hub.faults.wrongHash = undefined;
    expect(await load('hf:o/r')).toMatchObject({ bytes: noise(4500) });
    await expect(load('hf:o/r', { kept: false })).resolves.toMatchObject({ bytes: noise(4500) });
  });

  test('bytes altered in transit', async () => {
    const altered = Buffer.from(SAFE['model.safetensors']);
    altered[altered.length - 7] ^= 1;
    hub.push('o/r', { ...SAFE, 'model.safetensors': altered });
    hub.faults.wrongHash = 'model.safetensors';
    await expect(load('hf:o/r', { kept: false })).rejects.toThrow(/has the SHA-256/);
  });

  test('a lost piece of a checked file is restored exactly or not at all', async () => {
    await file(SAFE);
    const lose = () => {
      const manifest = [...stores.manifests.values.values()].find((v) => (v as { size?: number }).size! > 1000);
      stores.pieces.pieces.delete((manifest as { hashes: string[] }).hashes[2]);
    };
    lose();
    expect(await load('hf:o/r')).toMatchObject({ bytes: noise(4500) });
    lose();
    hub.faults.hook = (request, response, _, content) => {
      if (!content || !request.url?.includes('signature')) return false;
      const [, first, last] = /(\d+)-(\d+)/.exec(request.headers.range ?? '')!.map(Number);
      const headers = { 'content-range': `bytes ${first}-${last}/${content.length}`, etag: etagOf() };
      return !!response.writeHead(206, headers).end(Buffer.alloc(last - first + 1, 9));
    };
    const etagOf = () => (manifestOf('model.safetensors') as { version: string }).version;
    await expect(load('hf:o/r')).rejects.toThrow(/differs at byte 2000 from what was checked/);
  });

  test.each([0, 1, 2, 3, 4])('so is piece %d of a checked file that has lost all', async (wrong) => {
    await file(SAFE);
    stores.pieces.pieces.clear();
    const start = wrong * 1000;
    const { version } = manifestOf('model.safetensors') as { version: string };
    hub.faults.hook = (request, response, _, content) => {
      const [, first, last] = (/(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []).map(Number);
      if (!content || !request.url?.includes('signature') || first !== start) return false;
      const headers = { 'content-range': `bytes ${first}-${last}/${content.length}`, etag: version };
      return !!response.writeHead(206, headers).end(Buffer.alloc(last - first + 1, 9));
    };
    await expect(load('hf:o/r')).rejects.toThrow(`differs at byte ${start} from what was checked`);
  });

  const manifestOf = (path: string) =>
    [...stores.manifests.values].find(([key]) => String(key).startsWith('file') && String(key).endsWith(path))?.[1];

  test('an expired store address: the hub gives another', async () => {
    hub.faults.uses = 2;
    expect((await file(SAFE)).bytes).toEqual(noise(4500));
    expect(hub.requests.filter((line) => /^hub .*model\.safetensors/.test(line)).length).toBeGreaterThan(1);
  });

  test('a store that rejects direct requests: through the hub every time', async () => {
    const seen = new Set<string>();
    let straight = 0;
    hub.faults.hook = (request) => {
      const signature = /signature=.*/.exec(request.url ?? '')?.[0];
      if (!signature || !seen.has(signature)) return !seen.add(signature ?? '');
      straight++;
      request.socket.destroy();
      return true;
    };
    expect((await file(SAFE)).bytes).toEqual(noise(4500));
    expect(straight).toBeGreaterThan(0);
    expect(straight).toBeLessThanOrEqual(3); // a window and its read-ahead of two
  });

  test('without ranges: read whole', async () => {
    hub.faults.noRanges = true;
    expect((await file(SAFE)).bytes).toEqual(noise(4500));
  });

  test('with a listing that fails for a while: an interrupted load continues at its commit, and a second update fetches nothing', async () => {
    hub.push('o/r', SAFE);
    hub.faults.hook = (request, response, nth) =>
      nth > 1 && !!request.url?.includes('signature') && !!response.writeHead(500).end();
    await expect(load('hf:o/r')).rejects.toThrow(/500/);
    hub.faults.hook = (request, response) => !!request.url?.startsWith('/api/') && !!response.writeHead(500).end();
    hub.push('o/r', { ...SAFE, 'model.safetensors': weights(1) });
    const second = await load('hf:o/r');
    expect(second.bytes).toEqual(noise(4500));
    expect(second.fetched).toBeLessThan(4500);
    await load('hf:o/r', { asks: true }); // the second load had no hash, so its bytes are compared with the hub's
    expect((await load('hf:o/r', { asks: true })).fetched).toBeLessThan(2000); // the version of each file
  });

  test('without a listing, a quantization is an error whose remedy names a file', async () => {
    hub.faults.noListing = true;
    hub.push('o/r', { 'm-Q8_0.gguf': gguf('q8') });
    await expect(load('hf:o/r:Q8_0')).rejects.toThrow(/does not list its files.*o\/r\/file\.gguf/);
    expect(await load('hf:o/r/m-Q8_0.gguf')).toMatchObject({ title: 'q8' });
  });

  test('429 with a waiting time, 500, then success', async () => {
    const status = [429, 500];
    hub.faults.hook = (request, response, nth) =>
      /safetensors$/.test(request.url ?? '') &&
      nth < 2 &&
      !!response.writeHead(status[nth], { 'retry-after': '0.01', 'access-control-allow-origin': '*' }).end();
    expect((await file(SAFE)).bytes).toEqual(noise(4500));
  });

  test.each([
    [401, /private, gated/],
    [403, /private, gated/],
    [404, /There is no config\.json in /],
    [429, /busy or failing/],
    [500, /busy or failing/],
  ])('%d for every request', async (status, message) => {
    hub.faults.hook = (_, response) => !!response.writeHead(status).end();
    await expect(file(SAFE)).rejects.toThrow(message);
    await expect(load('hf:o/r')).rejects.toBeInstanceOf(ModelFetchError);
  });

  test('a page of HTML for every request', async () => {
    hub.faults.hook = (_, response) =>
      !!response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    await expect(file(SAFE)).rejects.toThrow(/web page/);
  });

  test('a wrong Content-Range', async () => {
    hub.faults.hook = (request, response, nth) =>
      nth > 1 &&
      !!request.url?.includes('signature') &&
      !!response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).end('x');
    await expect(file(SAFE)).rejects.toThrow(/"bytes 0-9\/10" where "bytes/);
  });
});

const { length } = SAFE['model.safetensors'];

test('continues when cut at any byte of any answer, in the same load or the next', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(length - 1), fc.boolean(), async (at, forGood) => {
      stores = fakeStores();
      hub.push('o/r', SAFE);
      let isCut = true;
      const etag = '"v1"';
      hub.faults.hook = (request, response, _, content) => {
        if (!content || !request.url?.includes('signature')) return false;
        const [, first, last] = /(\d+)-(\d+)/.exec(request.headers.range ?? '')!.map(Number);
        if (isCut && first <= at && at <= last) {
          isCut = forGood;
          return cutAfter(at - first, request, response, content);
        }
        const end = Math.min(last, content.length - 1);
        const headers = { etag, 'content-range': `bytes ${first}-${end}/${content.length}` };
        return !!response.writeHead(206, headers).end(content.subarray(first, end + 1));
      };
      if (forGood) {
        await expect(load('hf:o/r')).rejects.toThrow();
        isCut = false;
        const second = await load('hf:o/r');
        expect(second.fetched).toBeLessThanOrEqual(SAFE['config.json'].length + length - Math.floor(at / 1000) * 1000);
        expect(second.bytes).toEqual(noise(4500));
      } else expect((await load('hf:o/r')).bytes).toEqual(noise(4500));
      expect((await load('hf:o/r')).fetched).toBe(0);
    }),
    { numRuns: 40 },
  );
});
