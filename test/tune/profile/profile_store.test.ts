// A stored profile is read only if it is sound: storage is as untrusted as a file.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { productKey } from '../../../src/kernels/linear/product_profile';
import { WEIGHT_FORMATS, type WeightFormat } from '../../../src/kernels/linear/weight_format';
import type { ModelConfig } from '../../../src/model/config/config';
import { matvecCandidates } from '../../../src/tune/products/product_candidates';
import type { Profile } from '../../../src/tune/profile/profile';
import { mergeProfiles, parseProfile } from '../../../src/tune/profile/profile_check';
import {
  attentionKey,
  loadProfile,
  profileKey,
  raceKey,
  stepKey,
  storeProfile,
} from '../../../src/tune/profile/profile_store';
import { testGpu } from '../../gpu/test_device';

const PREFILL = { name: 'flash_prefill', parameters: { BLOCK_M: 64, BLOCK_N: 32, DV_TILE: 64 }, ms: 0.12 };
const SHORT = { name: 'fused_decode', parameters: { WORKGROUP: 128 }, ms: 0.01, kvLen: 128 };
const LONG = { name: 'split_kv_decode', parameters: { SPLITS: 16 }, ms: 0.02, kvLen: 4096 };
const ATTENTION = { prefill: PREFILL, decode: [SHORT, LONG], tunedAt: '2026-11-21T10:00:00.000Z' };
const HEADS = '8x2x64 f16 windows 0';
const MATVEC = { WORKGROUP: 512, LANES: 16, GROUP_ROWS: 1, SLOTS: 4, TURNS: 1 };
const TILES = { rowThreads: 8, tokenThreads: 16, tokensEach: 4, stages: 2, kShares: 1 } as const;
const KEY = 'gate_up_q8 16384x2048 q4 to_q8';
const F32_KEY = 'gate_up 16384x2048 q4 f32';
const TILES_KEY = 'gate_up 16384x2048 q4_k q8';
const STEP = {
  name: 'fused',
  reason: 'measured here',
  gain: 0.38,
  groups: 128,
  threads: 512,
  spins: 2 ** 16,
  lanesFrom: 3000,
  until: 9000,
} as const;
const STEP_KEY = 'llama 16x2048x8192 heads 32x8x64 q4+q6_k kv f16 1024 q8';
const RACE_TIME = { ms: 0.2, spread: 0.01 };
const PASS_RACE = { q8: RACE_TIME, f32: { ms: 0.1, spread: 0 } };
const RACE = { clock: 'gpu', decode: PASS_RACE, prefill: PASS_RACE } as const;
const RACE_KEY = 'q4_k 16384x2048 4';
const PROFILE = {
  attention: { [HEADS]: ATTENTION },
  step: { [STEP_KEY]: STEP },
  race: { [RACE_KEY]: RACE },
  matvec: { [KEY]: MATVEC },
  tiles: { [TILES_KEY]: TILES },
};
const of = (attention: unknown) => ({ ...PROFILE, attention: { [HEADS]: attention } });

test('a sound profile comes back as it is, without what does not belong to it', () => {
  const attention = { ...ATTENTION, extra: 1, prefill: { ...PREFILL, extra: { deep: [] } } };
  const step = { [STEP_KEY]: { ...STEP, extra: 1 } };
  const race = { [RACE_KEY]: { ...RACE, extra: 1, decode: { ...PASS_RACE, extra: 1 } } };
  const stored = { ...of(attention), step, race, matvec: { [KEY]: { ...MATVEC, extra: 1 } }, extra: 1 };
  expect(parseProfile(structuredClone(stored))).toEqual(PROFILE);
  expect(parseProfile(of({ ...ATTENTION, decode: [] }))).toEqual(of({ ...ATTENTION, decode: [] }));
  const empty = { attention: {}, step: {}, race: {}, matvec: {}, tiles: {} };
  expect(parseProfile(empty)).toEqual(empty);
});

test('x staged and weights placed come back where a product has them, and nothing beside them', () => {
  const matvec = {
    [F32_KEY]: { ...MATVEC, STAGED_X: 1, PLACED_WEIGHTS: 1 },
    'qkv 3072x2048 q8 f32': { ...MATVEC, PLACED_WEIGHTS: 1 },
    'head 32000x2048 f16 f32': { ...MATVEC, STAGED_X: 1 },
    'residual 2048x8192 q4 f32': MATVEC,
  };
  const stored = Object.entries(matvec).map(([key, entry]) => [key, { ...entry, STAGED: 1, PLACED_X: 1 }]);
  expect(parseProfile({ ...PROFILE, matvec: Object.fromEntries(stored) })).toEqual({ ...PROFILE, matvec });
});

test('every candidate of every format and input comes back, and x staged or weights placed without one do not', () => {
  const limits = { maxComputeInvocationsPerWorkgroup: 1024, maxComputeWorkgroupStorageSize: 49152 };
  for (const format of Object.keys(WEIGHT_FORMATS) as WeightFormat[]) {
    for (const input of ['f32', 'to_q8', 'parts', 'parts_to_q8', 'q8'] as const) {
      const shape = { rows: 4096, cols: 2048, format, normEps: null, bias: false };
      const key = productKey('kernels/residual', shape, input);
      const parse = (entry: object) => parseProfile({ ...PROFILE, matvec: { [key]: entry } })?.matvec ?? null;
      const candidates = matvecCandidates({ ...shape, input, finishRows: 2 }, limits, 32);
      for (const candidate of candidates) expect(parse(candidate)).toEqual({ [key]: candidate });
      for (const choice of ['STAGED_X', 'PLACED_WEIGHTS'] as const) {
        expect(parse({ ...MATVEC, [choice]: 1 }) !== null, `${choice} of ${key}`).toBe(
          candidates.some((candidate) => candidate[choice]),
        );
      }
    }
  }
});

describe('a profile is ignored where that of attention is', () => {
  const prefill = (change: object) => ({ ...ATTENTION, prefill: { ...PREFILL, ...change } });
  const decode = (...entries: unknown[]) => ({ ...ATTENTION, decode: entries });
  const parameters = (given: unknown) => prefill({ parameters: given });
  const many = Array.from({ length: 65 }, (_, i) => ({ ...SHORT, kvLen: i + 1 }));
  const cases: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    text: '{}',
    'a list': [ATTENTION],
    'an empty object': {},
    'no date': { ...ATTENTION, tunedAt: undefined },
    'a date that is markup': { ...ATTENTION, tunedAt: '<img src=x>2026-11-21' },
    'no prefill': { ...ATTENTION, prefill: undefined },
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
    'decode that is no list': { ...ATTENTION, decode: { 0: SHORT } },
    'decode without a length': decode({ ...SHORT, kvLen: undefined }),
    'a length of zero': decode({ ...SHORT, kvLen: 0 }),
    'lengths out of order': decode(LONG, SHORT),
    'a length twice': decode(SHORT, SHORT),
    'a hole in decode': decode(SHORT, null),
    'too many lengths': decode(...many),
  };
  for (const [name, value] of Object.entries(cases)) {
    test(name, () => expect(parseProfile(of(value))).toBeNull());
  }
});

test('without storage there is no profile, and nothing throws', async () => {
  const gpu = await testGpu();
  expect(globalThis.indexedDB).toBeUndefined();
  expect(await loadProfile(gpu)).toBeNull();
  expect(await storeProfile(gpu, parseProfile(PROFILE)!)).toBeNull();
});

test('the key of attention changes with the heads, caps, windows and the type of the cache', () => {
  const layers = [{ rope: 0, window: null }];
  const config = {
    nHeads: 8,
    nKvHeads: 2,
    headDim: 64,
    attentionSoftcap: null,
    causal: true,
    layers: [...layers],
  } as unknown as ModelConfig;
  const keys = [
    attentionKey(config, 'f16'),
    attentionKey(config, 'f32'),
    attentionKey(config, 'q8'),
    attentionKey({ ...config, nHeads: 4 }, 'f16'),
    attentionKey({ ...config, nKvHeads: 1 }, 'f16'),
    attentionKey({ ...config, headDim: 128 }, 'f16'),
    attentionKey({ ...config, attentionSoftcap: 50 }, 'f16'),
    attentionKey({ ...config, causal: false }, 'f16'),
    attentionKey({ ...config, layers: [...layers, { rope: 0, window: 512 }] }, 'f16'),
    attentionKey({ ...config, layers: [...layers, { rope: 0, window: 4096 }] }, 'f16'),
  ];
  expect(keys[0]).toBe(HEADS);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(parseProfile({ ...PROFILE, attention: { [key]: ATTENTION } })).not.toBeNull();
});

test('the key of a step changes with the model, the formats, the context and the activations', () => {
  const config = {
    architecture: 'llama',
    nLayers: 16,
    hiddenSize: 2048,
    intermediateSize: 8192,
    nHeads: 32,
    nKvHeads: 8,
    headDim: 64,
  } as ModelConfig;
  const settings = { formats: ['q6_k', 'q4', 'q4'], kvType: 'f16', contextLength: 1024, activations: 'q8' } as const;
  const keys = [
    stepKey(config, settings),
    stepKey({ ...config, architecture: 'qwen3' }, settings),
    stepKey({ ...config, nLayers: 32 }, settings),
    stepKey({ ...config, hiddenSize: 4096 }, settings),
    stepKey({ ...config, intermediateSize: 14336 }, settings),
    stepKey({ ...config, nHeads: 16 }, settings),
    stepKey({ ...config, nKvHeads: 4 }, settings),
    stepKey({ ...config, headDim: 128 }, settings),
    stepKey(config, { ...settings, formats: ['q4'] }),
    stepKey(config, { ...settings, kvType: 'f32' }),
    stepKey(config, { ...settings, kvType: 'q8' }),
    stepKey(config, { ...settings, contextLength: 1025 }),
    stepKey(config, { ...settings, activations: 'f32' }),
  ];
  expect(keys[0]).toBe(STEP_KEY);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(parseProfile({ ...PROFILE, step: { [key]: STEP } })).not.toBeNull();
  expect(stepKey(config, { ...settings, contextLength: 513, formats: ['q4', 'q6_k'] })).toBe(STEP_KEY);
  const formats = Object.keys(WEIGHT_FORMATS) as (keyof typeof WEIGHT_FORMATS)[];
  const long = stepKey(config, { ...settings, formats, contextLength: 2 ** 20 });
  expect(parseProfile({ ...PROFILE, step: { [long]: STEP } })).not.toBeNull();
});

test('a step that was slower, or never measured, is sound, too', () => {
  for (const change of [
    { name: 'plain', gain: -0.2 },
    { gain: null },
    { groups: 1, threads: 1, spins: 1 },
    { groups: 1024, threads: 1024, spins: 2 ** 30 },
  ]) {
    const profile = { ...PROFILE, step: { [STEP_KEY]: { ...STEP, ...change } } };
    expect(parseProfile(profile)).toEqual(profile);
  }
});

test('a profile from before there were races is sound', () => {
  const { race: _, ...before } = PROFILE;
  expect(parseProfile(before)).toEqual({ ...PROFILE, race: {} });
  expect(raceKey({ format: 'q4_k', rows: 16384, cols: 2048, copies: 4 })).toBe(RACE_KEY);
});

describe('a profile is ignored:', () => {
  const step = (change: object) => ({ ...PROFILE, step: { [STEP_KEY]: { ...STEP, ...change } } });
  const matvec = (change: object, key = KEY) => ({ ...PROFILE, matvec: { [key]: { ...MATVEC, ...change } } });
  const tiles = (change: object) => ({ ...PROFILE, tiles: { [TILES_KEY]: { ...TILES, ...change } } });
  const race = (change: object) => ({ ...PROFILE, race: { [RACE_KEY]: { ...RACE, ...change } } });
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`qkv ${i}x32 q4 f32`, MATVEC]));
  const cases: Record<string, unknown> = {
    nothing: undefined,
    'a list': [PROFILE],
    'a profile of attention alone': ATTENTION,
    'no attention': { ...PROFILE, attention: undefined },
    'heads that no model has': { ...PROFILE, attention: { '8x2x64': ATTENTION } },
    'a key of attention that is code': { ...PROFILE, attention: { [`${HEADS};`]: ATTENTION } },
    'no step': { ...PROFILE, step: undefined },
    'a key of a step that is code': { ...PROFILE, step: { [`${STEP_KEY};`]: STEP } },
    'an unknown step': step({ name: 'quick' }),
    'a step named like a method': step({ name: 'constructor' }),
    'no reason': step({ reason: '' }),
    'a reason that is markup': step({ reason: '<img src=x>' }),
    'a reason of two lines': step({ reason: 'one\ntwo' }),
    'a long reason': step({ reason: 'x'.repeat(201) }),
    'no gain': step({ gain: undefined }),
    'a gain that is no number': step({ gain: '0.38' }),
    'a gain that is not finite': step({ gain: Number.NaN }),
    'a gain of a step that takes no time': step({ gain: 1e3 }),
    'a gain of a step that takes forever': step({ gain: -1 }),
    'no workgroups': step({ groups: 0 }),
    'too many workgroups': step({ groups: 1025 }),
    'a fraction of a workgroup': step({ groups: 1.5 }),
    'workgroups of text': step({ groups: '128' }),
    'no threads': step({ threads: undefined }),
    'too many threads': step({ threads: 1025 }),
    'no spins': step({ spins: 0 }),
    'too many spins': step({ spins: 2 ** 30 + 1 }),
    'a fraction of a spin': step({ spins: 0.5 }),
    'spins of text': step({ spins: '65536' }),
    'no end': step({ until: undefined }),
    'no place where lanes begin': step({ lanesFrom: undefined }),
    'an end before the first position': step({ until: 0 }),
    'a list of races': { ...PROFILE, race: [RACE] },
    'a key of a race that is code': { ...PROFILE, race: { [`${RACE_KEY};`]: RACE } },
    'a race by no clock': race({ clock: undefined }),
    'a race without prefill': race({ prefill: undefined }),
    'a race of one': race({ decode: { q8: RACE_TIME } }),
    'a race that took no time': race({ decode: { ...PASS_RACE, q8: { ms: 0, spread: 0 } } }),
    'a race of text': race({ decode: { ...PASS_RACE, q8: { ms: '1', spread: 0 } } }),
    'a race that took forever': race({ decode: { ...PASS_RACE, q8: { ms: 1e4, spread: 0 } } }),
    'a race of no spread': race({ decode: { ...PASS_RACE, q8: { ms: 1 } } }),
    'a race of much spread': race({ decode: { ...PASS_RACE, q8: { ms: 1, spread: 1.1 } } }),
    'no tiles': { ...PROFILE, tiles: undefined },
    'a list of products': { ...PROFILE, matvec: [MATVEC] },
    'too many': { ...PROFILE, matvec: many },
    'a key that no shape has': { ...PROFILE, matvec: { constructor: MATVEC } },
    'a key of code': { ...PROFILE, matvec: { [`${KEY};`]: MATVEC } },
    'a missing number': matvec({ SLOTS: undefined }),
    'a number of text': matvec({ LANES: '16' }),
    zero: matvec({ TURNS: 0 }),
    'a fraction': matvec({ TURNS: 0.5 }),
    'no power of two': matvec({ WORKGROUP: 96 }),
    'a huge number': matvec({ WORKGROUP: 2 ** 17 }),
    'x staged twice': matvec({ STAGED_X: 2 }, F32_KEY),
    'x staged by a text': matvec({ STAGED_X: '1' }, F32_KEY),
    'x that may be staged': matvec({ STAGED_X: true }, F32_KEY),
    'x staged not at all': matvec({ STAGED_X: 0 }, F32_KEY),
    'x of null staged': matvec({ STAGED_X: null }, F32_KEY),
    'bytes of x staged': matvec({ STAGED_X: 1 }, KEY),
    'x staged that is quantized before': matvec({ STAGED_X: 1 }, 'residual 2048x8192 q4 q8'),
    'weights placed twice': matvec({ PLACED_WEIGHTS: 2 }, F32_KEY),
    'weights placed by a text': matvec({ PLACED_WEIGHTS: '1' }, F32_KEY),
    'weights placed not at all, beside x staged': matvec({ STAGED_X: 1, PLACED_WEIGHTS: 0 }, F32_KEY),
    'weights placed for bytes of x': matvec({ PLACED_WEIGHTS: 1 }, KEY),
    'weights placed that are floats': matvec({ PLACED_WEIGHTS: 1 }, 'head 32000x2048 f16 f32'),
    'weights placed that have minima': matvec({ STAGED_X: 1, PLACED_WEIGHTS: 1 }, 'head 32000x2048 q4_k f32'),
    'weights placed in a format like a method': matvec({ PLACED_WEIGHTS: 1 }, 'head 32000x2048 at f32'),
    'a shape that is a text': { ...PROFILE, matvec: { [KEY]: 'MATVEC' } },
    'tokens that no tile has': tiles({ tokensEach: 16 }),
    'stages that no tile has': tiles({ stages: 4 }),
    'shares that no tile has': tiles({ kShares: 32 }),
  };
  for (const [name, value] of Object.entries(cases)) {
    test(name, () => expect(parseProfile(value)).toBeNull());
  }

  test('anything that was changed anywhere, unless it is still sound', () => {
    fc.assert(
      fc.property(fc.constantFrom('attention', 'step', 'race', 'matvec', 'tiles'), fc.anything(), (field, value) => {
        const parsed = parseProfile({ ...PROFILE, [field]: value });
        if (parsed) expect(parseProfile(structuredClone(parsed))).toEqual(parsed);
      }),
    );
    fc.assert(fc.property(fc.anything(), (value) => void parseProfile(value)));
  });
});

test('newer entries join older ones and replace them, until there are too many', () => {
  const newer = {
    attention: { other: ATTENTION },
    step: { [STEP_KEY]: { ...STEP, gain: 0.4 } },
    race: { [RACE_KEY]: { ...RACE, clock: 'cpu' } },
    matvec: { [KEY]: { ...MATVEC, TURNS: 2 }, other: MATVEC },
    tiles: {},
  };
  const attention = { ...PROFILE.attention, ...newer.attention };
  expect(mergeProfiles(PROFILE as Profile, newer as Profile)).toEqual({ ...newer, attention, tiles: PROFILE.tiles });
  expect(mergeProfiles(null, newer as Profile)).toEqual(newer);
  expect(mergeProfiles(PROFILE as Profile, { step: newer.step })).toEqual({ ...PROFILE, step: newer.step });
  const full = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`${i}`, MATVEC]));
  expect(mergeProfiles({ ...PROFILE, matvec: full } as Profile, newer as Profile).matvec).toEqual(newer.matvec);
});

test('the key of a profile changes with the GPU and its capabilities', async () => {
  const gpu = await testGpu();
  const keys = [
    profileKey(gpu),
    profileKey(await testGpu(['subgroups'])),
    profileKey(Object.create(gpu, { adapterName: { value: 'another' } })),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(profileKey(gpu)).toBe(keys[0]);
});
