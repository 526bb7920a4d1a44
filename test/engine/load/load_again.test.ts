// Files that arrive damaged once, and then intact or damaged again: the load retries once, and keeps nothing damaged.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadModel } from '../../../src/engine/load/load';
import { blamesFiles, mayHeal } from '../../../src/engine/load/load_again';
import type { EngineInfo, LoadOptions } from '../../../src/engine/protocol';
import { UnsupportedModelError, VivaceError } from '../../../src/errors';
import type { FileManifest } from '../../../src/storage/cache/manifest';
import { pieceName } from '../../../src/storage/cache/piece_store';
import { HTTP_TUNING } from '../../../src/storage/source/http';
import { GGUF_SPECS } from '../../fuzz/tiny_model';
import { fakeHub, sha256 } from '../../storage/fake_hub';
import { type FakeStores, fakeStores } from '../../storage/fake_stores';
import { sendFile, serve } from '../../storage/serve';
import { splitGguf } from '../../storage/split_file';
import { writeGguf } from '../../storage/write_gguf';
import { writeSafetensors } from '../../storage/write_safetensors';
import { byteLevelJson } from '../../text/tiny_vocabulary';

Object.assign(HTTP_TUNING, { windowBytes: 16384, retryDelaysMs: [1], stallMs: 5000 });

let stores: FakeStores = fakeStores();
vi.mock('../../../src/storage/cache/stores', () => ({ openStores: async () => stores }));
afterEach(() => {
  vi.restoreAllMocks();
  stores = fakeStores();
});

const SIZE = 32;
/** f16 numbers below 1, different in every piece. */
const numbers = (bytes: number, seed: number) =>
  Uint8Array.from({ length: bytes }, (_, i) => (i * 7 + seed * 13 + (i >> 8)) % 53);
const spec = GGUF_SPECS[0];
const GGUF = writeGguf({
  ...spec,
  tensors: spec.tensors?.map((tensor, i) => ({ ...tensor, data: numbers(tensor.data!.length, i) })),
});
const tokenizer = byteLevelJson() as { model: { vocab: Record<string, number> }; added_tokens: { id: number }[] };
const VOCAB = 1 + Math.max(...Object.values(tokenizer.model.vocab), ...tokenizer.added_tokens.map(({ id }) => id));
const tensor = (seed: number, ...shape: number[]) => ({
  dtype: 'F16',
  shape,
  data: numbers(2 * shape.reduce((product, n) => product * n, 1), seed),
});
const matrices = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
];
const FIRST = { 'model.embed_tokens.weight': tensor(1, VOCAB, SIZE), 'model.norm.weight': tensor(2, SIZE) };
const SECOND = Object.fromEntries([
  ...matrices.map((name, i) => [`model.layers.0.${name}.weight`, tensor(3 + i, SIZE, SIZE)]),
  ['model.layers.0.input_layernorm.weight', tensor(11, SIZE)],
  ['model.layers.0.post_attention_layernorm.weight', tensor(12, SIZE)],
]);
const SIDE = {
  'config.json': JSON.stringify({
    model_type: 'llama',
    vocab_size: VOCAB,
    hidden_size: SIZE,
    intermediate_size: SIZE,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    max_position_embeddings: 64,
    tie_word_embeddings: true,
  }),
  'tokenizer.json': JSON.stringify(tokenizer),
};
const shardMap = (file: string, tensors: object) => Object.keys(tensors).map((name) => [name, file]);
const WHOLE = { ...SIDE, 'model.safetensors': writeSafetensors({ ...FIRST, ...SECOND }) };
const SHARDED = {
  ...SIDE,
  'model.safetensors.index.json': JSON.stringify({
    weight_map: Object.fromEntries([...shardMap('a.safetensors', FIRST), ...shardMap('b.safetensors', SECOND)]),
  }),
  'a.safetensors': writeSafetensors(FIRST),
  'b.safetensors': writeSafetensors(SECOND),
};
const PARTS = splitGguf(GGUF, 'm', 2);
const [PART_1] = Object.keys(PARTS);

type Files = Record<string, string | Uint8Array>;
type Damage = (file: Buffer) => Buffer;

/** The `path` of a server's damaged files, and the number of damaged answers. */
interface Fault {
  path: string;
  damage: Damage;
  times: number;
  isPage?: boolean;
}

const flipped =
  (at: number): Damage =>
  (file) => {
    const copy = Buffer.from(file);
    copy[at] ^= 1;
    return copy;
  };
const half: Damage = (file) => file.subarray(0, file.length >> 1);
const page: Damage = () => Buffer.from('<!doctype html><title>Sign in</title>');

/** Answers with a damaged file `times` times, with the ETag of the intact one. */
function hookOf(fault: Fault, hasRanges: boolean) {
  let left = fault.times;
  return (request: IncomingMessage, response: ServerResponse, file: Buffer | null): boolean => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://h').pathname);
    if (!hasRanges) delete request.headers.range;
    if (!file || !path.endsWith(`/${fault.path}`)) return false;
    const etag = `"${sha256(file).slice(0, 12)}"`;
    const isDamaged = left > 0;
    if (isDamaged) left--;
    const now = isDamaged ? fault.damage(file) : file;
    if (isDamaged && fault.isPage) return !!response.writeHead(200, { 'content-type': 'text/html' }).end(now);
    return sendFile(request, response, now, { headers: { etag } });
  };
}

const NO_FAULT: Fault = { path: '', damage: page, times: 0 };

async function plain(files: Files, { fault = NO_FAULT, hasRanges = true } = {}) {
  const now = { hook: hookOf(fault, hasRanges) };
  const site = await serve({}, (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://h').pathname.slice(1));
    const content = files[path.replace(/^m\//, '')];
    const file = content === undefined ? null : Buffer.from(content);
    if (now.hook(request, response, file)) return true;
    return file !== null && sendFile(request, response, file, { headers: { etag: `"${sha256(file).slice(0, 12)}"` } });
  });
  const heal = () => {
    now.hook = hookOf(NO_FAULT, hasRanges);
  };
  return { ...site, heal };
}

function load(location: string, options: LoadOptions = {}): Promise<EngineInfo> {
  const given: LoadOptions = { backend: 'cpu', contextLength: 32, ...options };
  return loadModel(location, given, () => {}, new AbortController().signal).then(({ info }) => info);
}

const codes = ({ warnings }: EngineInfo) =>
  warnings.map(({ code }) => code).filter((code) => code !== 'context-shortened');

/** Checks that no answer was requested more than `times` times. */
function expectAtMost(times: number, requests: readonly string[]) {
  for (const request of new Set(requests)) {
    expect([request, requests.filter((other) => other === request).length <= times]).toEqual([request, true]);
  }
}

const MODELS: [name: string, files: Files, location: string][] = [
  ['a GGUF file', { 'x.gguf': GGUF }, 'm/x.gguf'],
  ['a split GGUF', PARTS, `m/${PART_1}`],
  ['a folder', WHOLE, 'm/'],
  ['a folder of shards', SHARDED, 'm/'],
];

describe.each(MODELS)('%s', (_, files, location) => {
  const damages: [string, Damage, boolean][] = [
    ['one bit flipped in its start', flipped(0), false],
    ['half of it', half, false],
    ['a web page', page, true],
  ];
  const cases = Object.keys(files).flatMap((path) => damages.map(([what, ...rest]) => [path, what, ...rest] as const));

  test.each(cases)(
    '%s comes once as %s: the same call heals, and what is kept is right',
    async (path, _what, damage, isPage) => {
      // What the first attempt has saved within the same millisecond would pass for a finding of another tab.
      let now = Date.now();
      vi.spyOn(Date, 'now').mockImplementation(() => now++);
      for (const hasRanges of damage === half ? [true, false] : [true]) {
        stores = fakeStores();
        const site = await plain(files, { fault: { path, damage, times: 1, isPage }, hasRanges });
        const info = await load(`${site.url}${location}`);
        expect(codes(info)).toEqual(isPage ? [] : ['fetched-again']);
        expectAtMost(2, site.requests);
        site.requests.length = 0;
        expect(codes(await load(`${site.url}${location}`))).toEqual([]);
        expect(site.requests).toEqual([]);
      }
    },
  );

  test.each(Object.keys(files))(
    '%s comes damaged again and again: fetched twice, a typed error, and nothing kept',
    async (path) => {
      const site = await plain(files, { fault: { path, damage: flipped(0), times: Number.POSITIVE_INFINITY } });
      await expect(load(`${site.url}${location}`)).rejects.toBeInstanceOf(VivaceError);
      expectAtMost(2, site.requests);
      const wrong = await pieceName(
        new Uint8Array(flipped(0)(Buffer.from(files[path])).subarray(0, HTTP_TUNING.windowBytes)),
      );
      expect(stores.pieces.pieces.has(wrong)).toBe(false);
      site.heal();
      expect(codes(await load(`${site.url}${location}`))).toEqual([]);
    },
  );
});

const HASH = sha256(GGUF);
const XGGUF = { 'x.gguf': GGUF };

describe('a bit that leaves a file sound, but of no known kind', () => {
  const at = (text: string, word: string) => Buffer.from(text).indexOf(word);
  const cases: [string, Files, string, string, number][] = [
    [
      'the name of the architecture in a GGUF',
      XGGUF,
      'm/x.gguf',
      'x.gguf',
      Buffer.from(GGUF).indexOf('general.architecture'),
    ],
    ['the kind of the tokenizer in a GGUF', XGGUF, 'm/x.gguf', 'x.gguf', Buffer.from(GGUF).indexOf('gpt2')],
    ['model_type', WHOLE, 'm/', 'config.json', at(SIDE['config.json'], 'llama')],
    ['the model of tokenizer.json', WHOLE, 'm/', 'tokenizer.json', at(SIDE['tokenizer.json'], '"BPE"') + 1],
  ];
  test.each(cases)('%s', async (_, files, location, path, place) => {
    const site = await plain(files, { fault: { path, damage: flipped(place), times: 1 } });
    expect(codes(await load(`${site.url}${location}`))).toEqual(['fetched-again']);
  });
});

test('without a cache the same call heals, too', async () => {
  const site = await plain(XGGUF, { fault: { path: 'x.gguf', damage: flipped(0), times: 1 } });
  expect(codes(await load(`${site.url}m/x.gguf`, { cache: false }))).toEqual(['fetched-again']);
  expect(stores.pieces.pieces.size).toBe(0);
});

test('the second load asks past the HTTP cache of the browser', async () => {
  const site = await plain(WHOLE, { fault: { path: 'tokenizer.json', damage: half, times: 1 } });
  const asked: string[] = [];
  const { fetch } = globalThis;
  vi.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    if (String(url).endsWith('/tokenizer.json')) asked.push(init?.cache ?? '');
    return fetch(url, init);
  });
  await load(`${site.url}m/`);
  await load(`${site.url}m/`, { cache: 'check' });
  vi.restoreAllMocks();
  expect(asked).toEqual(['default', 'reload', 'no-cache']);
});

test('two tabs at a time, one bad answer: both heal, and the next load asks for nothing', async () => {
  for (const files of [XGGUF, WHOLE] as Files[]) {
    stores = fakeStores();
    const [path] = Object.keys(files).slice(-1);
    const site = await plain(files, { fault: { path, damage: flipped(0), times: 1 } });
    const location = `${site.url}m/${files === XGGUF ? path : ''}`;
    await Promise.all([load(location), load(location)]);
    expectAtMost(4, site.requests); // each tab requests missing files
    const weights = site.requests.filter((request) => request.includes('bytes='));
    expectAtMost(2, weights);
    await load(location);
    site.requests.length = 0;
    expect(codes(await load(location))).toEqual([]);
    expect(site.requests).toEqual([]);
  }
});

test('what another version of this engine kept of a damaged start is dropped', async () => {
  const site = await plain(XGGUF);
  const location = `${site.url}m/x.gguf`;
  await load(location);
  const key = `file ${location}`;
  const { seal: _, ...known } = stores.manifests.values.get(key) as FileManifest & { seal?: string };
  const damaged = new Uint8Array(flipped(0)(Buffer.from(GGUF)).subarray(0, HTTP_TUNING.windowBytes));
  const name = await pieceName(damaged);
  stores.pieces.pieces.set(name, damaged);
  stores.manifests.values.set(key, { ...known, hashes: known.hashes.with(0, name) });
  site.requests.length = 0;
  expect(codes(await load(location))).toEqual(['fetched-again']);
  expectAtMost(1, site.requests);
  expect(stores.pieces.pieces.has(name)).toBe(false);
});

test('a file that changes while it is read is read anew', async () => {
  const site = await plain(XGGUF);
  const location = `${site.url}m/x.gguf`;
  await load(location);
  const manifest = stores.manifests.values.get(`file ${location}`) as FileManifest & { seal?: string };
  delete manifest.seal;
  manifest.size += 1; // like a record that was damaged before records had a hash of themselves
  expect(codes(await load(location))).toEqual(['fetched-again']);
});

test('what no second load can change is not fetched twice', async () => {
  const site = await plain({ 'config.json': '{"model_type":"llama"}' });
  await expect(load(`${site.url}m/`, { quantize: 'q3' as 'q4' })).rejects.toThrow(/quantize/);
  expect(site.requests).toEqual([]);
  await expect(load(`${site.url}m/x.gguf`)).rejects.toMatchObject({ code: 'model-fetch' });
  expectAtMost(1, site.requests);
  const good = await plain(XGGUF);
  await expect(load(`${good.url}m/x.gguf`, { activations: 'q8' })).rejects.toMatchObject({ code: 'invalid-request' });
  expectAtMost(1, good.requests);
});

describe('sha256', () => {
  test('of the file that is named, or of model.safetensors: the load is held to it', async () => {
    const site = await plain({ ...XGGUF, ...WHOLE });
    for (const cache of [true, false, 'check'] as const) {
      expect(codes(await load(`${site.url}m/x.gguf`, { cache, sha256: HASH.toUpperCase() }))).toEqual([]);
      expect(codes(await load(`${site.url}m/`, { cache, sha256: sha256(WHOLE['model.safetensors']) }))).toEqual([]);
    }
  });

  test('of other bytes: fetched twice, a typed error with both, and nothing kept', async () => {
    const site = await plain(XGGUF);
    const wrong = 'f'.repeat(64);
    await expect(load(`${site.url}m/x.gguf`, { sha256: wrong })).rejects.toThrow(`${HASH} and should have ${wrong}`);
    expectAtMost(2, site.requests);
    expect(stores.pieces.pieces.size).toBe(0);
  });

  test('of a model that was kept with a wrong byte in its weights: it is fetched again', async () => {
    const site = await plain(XGGUF, { fault: { path: 'x.gguf', damage: flipped(GGUF.length - 9), times: 100 } });
    expect(codes(await load(`${site.url}m/x.gguf`))).toEqual([]); // nothing can tell
    site.heal();
    expect(codes(await load(`${site.url}m/x.gguf`, { sha256: HASH }))).toEqual(['fetched-again']);
    site.requests.length = 0;
    expect(codes(await load(`${site.url}m/x.gguf`, { sha256: HASH }))).toEqual([]);
    expect(site.requests).toEqual([]);
  });

  test('what is no hash, or would be of nothing that is read, is refused', async () => {
    const site = await plain({ ...SHARDED, ...XGGUF });
    const refused = { code: 'invalid-request', option: 'sha256' };
    await expect(load(`${site.url}m/x.gguf`, { sha256: 'abc' })).rejects.toMatchObject(refused);
    await expect(load(`${site.url}m/`, { sha256: HASH })).rejects.toMatchObject(refused);
    const file = new File([GGUF], 'x.gguf');
    const loading = loadModel(file, { sha256: HASH }, () => {}, new AbortController().signal);
    await expect(loading).rejects.toMatchObject(refused);
  });
});

describe('a hub', () => {
  test.each<[string, Damage]>([
    ['one bit flipped in the start', flipped(0)],
    ['one bit flipped in the weights', flipped(GGUF.length - 9)],
    ['half of it', half],
  ])('weights that come once with %s: the same call heals', async (_, damage) => {
    const hub = await fakeHub();
    onTestFinished(() => hub.close());
    hub.push('o/r', XGGUF);
    let wrong = damage === half ? 1 : 20; // answers
    const started = new Set<string>();
    hub.faults.hook = (request, response, _nth, file) => {
      const range = request.headers.range ?? '';
      if (!file || !request.url?.includes('signature') || wrong === 0 || started.has(range)) return false;
      started.add(range);
      wrong--;
      return sendFile(request, response, damage(file), { headers: { etag: `"${HASH.slice(0, 12)}"` } });
    };
    expect(codes(await load('hf:o/r', { hubUrl: hub.url }))).toEqual(['fetched-again']);
    hub.requests.length = 0;
    expect(codes(await load('hf:o/r', { hubUrl: hub.url }))).toEqual([]);
    expect(hub.requests).toEqual([]);
  });
});

describe('storage that throws', () => {
  const errors: [string, () => unknown][] = [
    [
      'at once, for want of room',
      () => {
        throw new DOMException('full', 'QuotaExceededError');
      },
    ],
    [
      'later, with an AbortError of its own',
      () => Promise.reject(new DOMException('The transaction was aborted.', 'AbortError')),
    ],
  ];
  const calls = [
    'pieces.read',
    'pieces.write',
    'pieces.remove',
    'manifests.get',
    'manifests.update',
    'manifests.alone',
    'manifests.join',
  ];
  test.each(calls.flatMap((call) => errors.map(([when, fail]) => [call, when, fail] as const)))(
    '%s %s: the model loads, also one that came damaged',
    async (call, _, fail) => {
      const [part, method] = call.split('.') as ['pieces', 'read'];
      for (const isLater of [false, true]) {
        stores = fakeStores();
        const site = await plain(XGGUF, { fault: { path: 'x.gguf', damage: flipped(0), times: 1 } });
        if (isLater) await load(`${site.url}m/x.gguf`);
        Object.assign(stores[part], { [method]: fail });
        const told = codes(await load(`${site.url}m/x.gguf`));
        const ofStorage = ['cache-full', 'storage-refused'];
        expect(told.filter((code) => !ofStorage.includes(code))).toEqual(isLater ? [] : ['fetched-again']);
      }
    },
  );
});

test('a model that is not supported is fetched twice where that is little', () => {
  const error = new UnsupportedModelError('of a kind of its own');
  const attempt = { readBytes: 2 ** 20, fetchedBytes: 2 ** 20, isParsed: false };
  expect(mayHeal(error, attempt)).toBe(true);
  expect(mayHeal(error, { ...attempt, readBytes: 2 ** 32, fetchedBytes: 2 ** 32 })).toBe(false);
  expect(mayHeal(error, { ...attempt, isParsed: true })).toBe(false); // the machine is too small, not the file damaged
  expect(blamesFiles(error, attempt)).toBe(true);
});
