// Files that come damaged once, and stay right or wrong after it: the load heals by itself, once, and nothing wrong is kept.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EngineInfo, LoadOptions } from '../../src/engine/protocol';
import { loadModel } from '../../src/engine/session';
import { VivaceError } from '../../src/errors';
import { HTTP_TUNING } from '../../src/storage/http';
import { pieceName } from '../../src/storage/piece_store';
import { GGUF_SPECS } from '../fuzz/tiny_model';
import { sha256 } from '../storage/fake_hub';
import { type FakeStores, fakeStores } from '../storage/fake_stores';
import { sendFile, serve } from '../storage/serve';
import { splitGguf } from '../storage/split_file';
import { writeGguf } from '../storage/write_gguf';
import { writeSafetensors } from '../storage/write_safetensors';
import { byteLevelJson } from '../text/tiny_vocabulary';

Object.assign(HTTP_TUNING, { windowBytes: 4096, retryDelaysMs: [1], stallMs: 5000 });

let stores: FakeStores = fakeStores();
vi.mock('../../src/storage/stores', () => ({ openStores: async () => stores }));
afterEach(() => {
  stores = fakeStores();
});

const SIZE = 32;
/** f16 numbers below 1, no two pieces alike. */
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

/** The `path` of a server's files that come damaged, and how many answers do. */
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

/** Answers with a damaged file so many times, with the ETag of the right one. */
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

/** No answer was asked for more than `times`. */
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
      for (const hasRanges of [true, false]) {
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
