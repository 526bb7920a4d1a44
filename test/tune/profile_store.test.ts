// What was tuned comes back from storage only if it is sound: storage is as untrusted as a file.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelConfig } from '../../src/model/config/config';
import {
  loadProductProfile,
  loadProfile,
  mergeProductProfiles,
  parseProductProfile,
  parseProfile,
  productProfileKey,
  profileKey,
  storeProductProfile,
  storeProfile,
} from '../../src/tune/profile_store';
import { testGpu } from '../gpu/test_device';

const PREFILL = { name: 'flash_prefill', parameters: { BLOCK_M: 64, BLOCK_N: 32, DV_TILE: 64 }, ms: 0.12 };
const SHORT = { name: 'fused_decode', parameters: { WORKGROUP: 128 }, ms: 0.01, kvLen: 128 };
const LONG = { name: 'split_kv_decode', parameters: { SPLITS: 16 }, ms: 0.02, kvLen: 4096 };
const PROFILE = { prefill: PREFILL, decode: [SHORT, LONG], tunedAt: '2026-11-21T10:00:00.000Z' };

test('a sound profile comes back as it is, without what does not belong to it', () => {
  const stored = structuredClone({ ...PROFILE, extra: 1, prefill: { ...PREFILL, extra: { deep: [] } } });
  expect(parseProfile(stored)).toEqual(PROFILE);
  expect(parseProfile({ ...PROFILE, decode: [] })).toEqual({ ...PROFILE, decode: [] });
});

describe('is ignored:', () => {
  const prefill = (change: object) => ({ ...PROFILE, prefill: { ...PREFILL, ...change } });
  const decode = (...entries: unknown[]) => ({ ...PROFILE, decode: entries });
  const parameters = (given: unknown) => prefill({ parameters: given });
  const many = Array.from({ length: 65 }, (_, i) => ({ ...SHORT, kvLen: i + 1 }));
  const cases: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    text: '{}',
    'a list': [PROFILE],
    'an empty object': {},
    'no date': { ...PROFILE, tunedAt: undefined },
    'a date that is markup': { ...PROFILE, tunedAt: '<img src=x>2026-11-21' },
    'no prefill': { ...PROFILE, prefill: undefined },
    'an unknown sibling': prefill({ name: 'flash_prefil' }),
    'a sibling named like a method': prefill({ name: 'constructor' }),
    'a time that is no number': prefill({ ms: '1' }),
    'a time that is not finite': prefill({ ms: Number.POSITIVE_INFINITY }),
    'a negative time': prefill({ ms: -1 }),
    'no parameters': parameters(undefined),
    'a list of parameters': parameters([1]),
    'a parameter of zero': parameters({ BLOCK_M: 0 }),
    'a fraction': parameters({ BLOCK_M: 1.5 }),
    'a huge parameter': parameters({ BLOCK_M: 2 ** 31 }),
    'a parameter of text': parameters({ BLOCK_M: '64' }),
    'a parameter with the name of code': parameters({ 'A = 1u; const B': 1 }),
    'too many parameters': parameters(Object.fromEntries(many.map((_, i) => [`P${i}`, 1]))),
    'decode that is no list': { ...PROFILE, decode: { 0: SHORT } },
    'decode without a length': decode({ ...SHORT, kvLen: undefined }),
    'a length of zero': decode({ ...SHORT, kvLen: 0 }),
    'lengths out of order': decode(LONG, SHORT),
    'a length twice': decode(SHORT, SHORT),
    'a hole in decode': decode(SHORT, null),
    'too many lengths': decode(...many),
  };
  for (const [name, value] of Object.entries(cases)) {
    test(name, () => expect(parseProfile(value)).toBeNull());
  }
});

test('without storage there is no profile, and nothing throws', async () => {
  expect(globalThis.indexedDB).toBeUndefined();
  expect(await loadProfile('key')).toBeNull();
  expect(await storeProfile('key', parseProfile(PROFILE)!)).toBe(false);
  expect(await loadProductProfile('key')).toBeNull();
  expect(await storeProductProfile('key', PRODUCTS)).toBe(false);
});

test('the key changes with the GPU, its capabilities, the shape of the heads, caps, windows and the type of the cache', async () => {
  const gpu = await testGpu();
  const layers = [{ rope: 0, window: null }];
  const config = {
    nHeads: 8,
    nKvHeads: 2,
    headDim: 64,
    attentionSoftcap: null,
    layers: [...layers],
  } as unknown as ModelConfig;
  const keys = [
    profileKey(gpu, config, 'f16'),
    profileKey(gpu, config, 'f32'),
    profileKey(gpu, { ...config, nHeads: 4 }, 'f16'),
    profileKey(gpu, { ...config, nKvHeads: 1 }, 'f16'),
    profileKey(gpu, { ...config, headDim: 128 }, 'f16'),
    profileKey(gpu, { ...config, attentionSoftcap: 50 }, 'f16'),
    profileKey(gpu, { ...config, layers: [...layers, { rope: 0, window: 512 }] }, 'f16'),
    profileKey(gpu, { ...config, layers: [...layers, { rope: 0, window: 4096 }] }, 'f16'),
    profileKey(await testGpu(['subgroups']), config, 'f16'),
    profileKey(Object.create(gpu, { adapterName: { value: 'another' } }), config, 'f16'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(profileKey(gpu, config, 'f16')).toBe(keys[0]);
});

const MATVEC = { WORKGROUP: 512, LANES: 16, GROUP_ROWS: 1, SLOTS: 4, TURNS: 1 };
const TILES = { rowThreads: 8, tokenThreads: 16, tokensEach: 4, stages: 2 } as const;
const KEY = 'gate_up_q8 16384x2048 q4 to_q8';
const TILES_KEY = 'gate_up 16384x2048 q4_k q8';
const PRODUCTS = { products: { [KEY]: MATVEC }, tiles: { [TILES_KEY]: TILES }, tunedAt: PROFILE.tunedAt };

test('a sound profile of products comes back as it is, without what does not belong to it', () => {
  const products = { [KEY]: { ...MATVEC, extra: 1 } };
  expect(parseProductProfile(structuredClone({ ...PRODUCTS, products, extra: 1 }))).toEqual(PRODUCTS);
  expect(parseProductProfile({ ...PRODUCTS, products: {}, tiles: {} })).not.toBeNull();
});

describe('a profile of products is ignored:', () => {
  const matvec = (change: object) => ({ ...PRODUCTS, products: { [KEY]: { ...MATVEC, ...change } } });
  const tiles = (change: object) => ({ ...PRODUCTS, tiles: { [TILES_KEY]: { ...TILES, ...change } } });
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`qkv ${i}x32 q4 f32`, MATVEC]));
  const cases: Record<string, unknown> = {
    nothing: undefined,
    'a list': [PRODUCTS],
    'a profile of attention': PROFILE,
    'no date': { ...PRODUCTS, tunedAt: 1 },
    'no tiles': { ...PRODUCTS, tiles: undefined },
    'a list of products': { ...PRODUCTS, products: [MATVEC] },
    'too many': { ...PRODUCTS, products: many },
    'a key that no shape has': { ...PRODUCTS, products: { constructor: MATVEC } },
    'a key of code': { ...PRODUCTS, products: { [`${KEY};`]: MATVEC } },
    'a missing number': matvec({ SLOTS: undefined }),
    'a number of text': matvec({ LANES: '16' }),
    zero: matvec({ TURNS: 0 }),
    'a fraction': matvec({ TURNS: 0.5 }),
    'no power of two': matvec({ WORKGROUP: 96 }),
    'a huge number': matvec({ WORKGROUP: 2 ** 17 }),
    'a shape that is a text': { ...PRODUCTS, products: { [KEY]: 'MATVEC' } },
    'tokens that no tile has': tiles({ tokensEach: 16 }),
    'stages that no tile has': tiles({ stages: 4 }),
  };
  for (const [name, value] of Object.entries(cases)) {
    test(name, () => expect(parseProductProfile(value)).toBeNull());
  }

  test('anything that was changed anywhere, unless it is still sound', () => {
    fc.assert(
      fc.property(fc.constantFrom('products', 'tiles', 'tunedAt'), fc.anything(), (field, value) => {
        const parsed = parseProductProfile({ ...PRODUCTS, [field]: value });
        if (parsed) expect(parseProductProfile(structuredClone(parsed))).toEqual(parsed);
      }),
    );
    fc.assert(fc.property(fc.anything(), (value) => void parseProductProfile(value)));
  });
});

test('newer shapes join older ones and replace them, until there are too many', () => {
  const newer = { products: { [KEY]: { ...MATVEC, TURNS: 2 }, other: MATVEC }, tiles: {}, tunedAt: 'later' };
  expect(mergeProductProfiles(PRODUCTS, newer)).toEqual({ ...newer, tiles: PRODUCTS.tiles });
  expect(mergeProductProfiles(null, newer)).toEqual(newer);
  const full = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`${i}`, MATVEC]));
  expect(mergeProductProfiles({ ...PRODUCTS, products: full }, newer)).toEqual(newer);
});

test('the key of products changes with the GPU and its capabilities', async () => {
  const gpu = await testGpu();
  const keys = [
    productProfileKey(gpu),
    productProfileKey(await testGpu(['subgroups'])),
    productProfileKey(Object.create(gpu, { adapterName: { value: 'another' } })),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(productProfileKey(gpu)).toBe(keys[0]);
});
