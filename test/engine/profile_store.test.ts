// What was tuned comes back from storage only if it is sound: storage is as untrusted as a file.

import { describe, expect, test } from 'vitest';
import { loadProfile, parseProfile, profileKey, storeProfile } from '../../src/engine/profile_store';
import type { ModelConfig } from '../../src/model/config';
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
});

test('the key changes with the GPU, its capabilities, the shape of the heads and the type of the cache', async () => {
  const gpu = await testGpu();
  const config = { nHeads: 8, nKvHeads: 2, headDim: 64 } as ModelConfig;
  const keys = [
    profileKey(gpu, config, 'f16'),
    profileKey(gpu, config, 'f32'),
    profileKey(gpu, { ...config, nHeads: 4 }, 'f16'),
    profileKey(gpu, { ...config, nKvHeads: 1 }, 'f16'),
    profileKey(gpu, { ...config, headDim: 128 }, 'f16'),
    profileKey(await testGpu(['subgroups']), config, 'f16'),
    profileKey(Object.create(gpu, { adapterName: { value: 'another' } }), config, 'f16'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(profileKey(gpu, config, 'f16')).toBe(keys[0]);
});
