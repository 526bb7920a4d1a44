// The choice among siblings: defaults, forced names, profiles, refusals.

import { describe, expect, test } from 'vitest';
import { ATTENTION_NAMES, type AttentionName, type AttentionShape } from '../../src/attention/attention';
import { createAttention } from '../../src/attention/create';
import type { AttentionProfile } from '../../src/attention/profile';
import {
  type AttentionRequest,
  LONG_PROMPT,
  SPLIT_KV_MIN,
  SPLIT_KV_MIN_MERGED_IN_O,
  selectAttention,
} from '../../src/attention/select';
import { AttentionUnavailable } from '../../src/errors';
import { hardwareGpu } from '../gpu/test_device';
import { plainScores } from './cases';

const shape: AttentionShape = {
  nHeads: 32,
  nKvHeads: 8,
  headDim: 64,
  contextLength: 4096,
  maxTokens: 256,
  kvType: 'f16',
  ...plainScores(64),
};
const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};
const decode: AttentionRequest = { nTokens: 1, kvLen: 200, shape, limits };
const prefill: AttentionRequest = { nTokens: 100, kvLen: 200, shape, limits };
const DEFAULT = 'the default, not tuned on this GPU';

const PROFILE: AttentionProfile = {
  prefill: { name: 'flash_prefill', parameters: { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 32 }, ms: 1 },
  decode: [
    { name: 'fused_decode', parameters: { WORKGROUP: 64 }, ms: 1, kvLen: 128 },
    { name: 'split_kv_decode', parameters: { SPLITS: 4, WORKGROUP: 64 }, ms: 1, kvLen: 512 },
    { name: 'split_kv_decode', parameters: { SPLITS: 32, WORKGROUP: 128 }, ms: 1, kvLen: 2048 },
  ],
  tunedAt: '2026-11-21T10:00:00.000Z',
};

const broken = (...names: AttentionName[]) => new Map(names.map((name) => [name, 'its outputs are wrong'] as const));

describe('auto', () => {
  test('many tokens are prefill', () => {
    for (const forced of ['auto', undefined] as const) {
      expect(selectAttention({ ...prefill, forced })).toMatchObject({
        name: 'flash_prefill',
        parameters: { BLOCK_M: 64, BLOCK_N: 64, DV_TILE: 64, ROWS: 4, KEYS: 8 },
        reason: DEFAULT,
        skipped: [],
      });
    }
  });

  test.each([
    [1, false, 'fused_decode'],
    [SPLIT_KV_MIN - 1, false, 'fused_decode'],
    [SPLIT_KV_MIN, false, 'split_kv_decode'],
    [4096, false, 'split_kv_decode'],
    [SPLIT_KV_MIN_MERGED_IN_O - 1, true, 'fused_decode'],
    [SPLIT_KV_MIN_MERGED_IN_O, true, 'split_kv_decode'],
  ])('one token over %i keys, parts merged in o: %s, is decode by %s', (kvLen, partsMergeInO, name) => {
    const request = { ...decode, kvLen, shape: { ...shape, partsMergeInO } };
    expect(selectAttention(request)).toMatchObject({ name, reason: DEFAULT, skipped: [] });
  });

  test('a longer cache is split into more parts', () => {
    const splits = (kvLen: number) => selectAttention({ ...decode, kvLen }).parameters.SPLITS;
    expect(splits(512)).toBeGreaterThan(1);
    expect(splits(4096)).toBeGreaterThan(splits(512));
  });

  test('goes to the next sibling where the first does not fit, and says why', () => {
    const small = { ...limits, maxComputeInvocationsPerWorkgroup: 64 };
    const choice = selectAttention({ ...prefill, limits: small });
    expect(choice.name).not.toBe('flash_prefill');
    expect(choice.reason).toContain(
      'instead of flash_prefill: it needs 128 invocations in a workgroup, this GPU grants 64',
    );
    expect(choice.reason).not.toContain('Use "auto"');
  });

  test.each([
    [200, ['fused_decode'], 'split_kv_decode'],
    [1000, ['split_kv_decode'], 'fused_decode'],
    [1000, ['split_kv_decode', 'fused_decode'], 'flash_prefill'],
  ] as const)('decode over %i keys without %j is by %s', (kvLen, names, next) => {
    const choice = selectAttention({ ...decode, kvLen, setAside: broken(...names) });
    expect(choice.name).toBe(next);
    expect(choice.skipped).toEqual(names.map((name) => ({ name, why: 'its outputs are wrong' })));
    expect(choice.reason).toBe(
      [DEFAULT, ...names.map((name) => `instead of ${name}: its outputs are wrong`)].join('; '),
    );
  });

  test('long prompts run in signed bytes where they may, tuned or not, and where the GPU has the memory', () => {
    const at = (kvLen: number, more: Partial<AttentionRequest> = {}) =>
      selectAttention({ ...prefill, kvLen, inBytes: true, profile: PROFILE, ...more });
    expect([at(LONG_PROMPT - 1).name, at(LONG_PROMPT).name]).toEqual(['flash_prefill', 'flash_prefill_q8']);
    expect(at(LONG_PROMPT).reason).toBe('flash_prefill_q8 for prompts from 320 keys on');
    expect(at(LONG_PROMPT, { inBytes: false }).name).toBe('flash_prefill');
    expect(at(LONG_PROMPT, { nTokens: 1 }).name).toBe('split_kv_decode');
    expect(at(LONG_PROMPT, { forced: 'flash_prefill' }).reason).toBe('asked for by name');
    const instead = at(LONG_PROMPT, { shape: { ...shape, headDim: 128 }, profile: undefined });
    expect(instead.name).toBe('flash_prefill');
    expect(instead.reason).toMatch(/instead of flash_prefill_q8: it needs \d+ bytes of workgroup memory/);
  });

  test('each sibling comes to its turn when all before it are set aside', () => {
    const order = (request: AttentionRequest) => {
      const names: AttentionName[] = [];
      for (let i = 0; i < ATTENTION_NAMES.length; i++) {
        try {
          names.push(selectAttention({ ...request, setAside: broken(...names) }).name);
        } catch {
          return names;
        }
      }
      return names;
    };
    expect(order(prefill)).toEqual(['flash_prefill', 'chunked', 'eager', 'fused_decode', 'cpu']);
    const last: AttentionName[] = ['flash_prefill', 'chunked', 'eager', 'cpu'];
    expect(order(decode)).toEqual(['fused_decode', 'split_kv_decode', ...last]);
    expect(order({ ...decode, kvLen: 3000 })).toEqual(['split_kv_decode', 'fused_decode', ...last]);
  });

  test('with all set aside is a typed error that names each', () => {
    const request = { ...decode, setAside: broken(...ATTENTION_NAMES) };
    expect(() => selectAttention(request)).toThrow(AttentionUnavailable);
    expect(() => selectAttention(request)).toThrow(/fused_decode: its outputs are wrong; split_kv_decode: .*cpu: /);
  });

  test.each([
    [{ headDim: 264 }, 'head_dim 264 is above 256'],
    [{ headDim: 36 }, 'head_dim 36 is no multiple of 8'],
    [{ nHeads: 30 }, '30 query heads do not share 8 key heads evenly'],
    [{ scale: 0 }, 'the scale of its scores, 0, is no positive number of 32 bits'],
    [{ scale: Number.NaN }, 'the scale of its scores, NaN, is no positive number of 32 bits'],
    [{ softcap: 1e39 }, 'the cap of its scores, 1e+39, is no positive number of 32 bits'],
  ])('a shape that no sibling serves is refused: %o', (odd, reason) => {
    expect(() => selectAttention({ ...decode, shape: { ...shape, ...odd } })).toThrow(reason);
  });
});

describe('a tuned profile', () => {
  test('decides prefill', () => {
    const { name, parameters, reason } = selectAttention({ ...prefill, profile: PROFILE });
    expect({ name, reason }).toEqual({ name: 'flash_prefill', reason: 'tuned on this GPU 2026-11-21' });
    expect(parameters).toMatchObject(PROFILE.prefill.parameters);
  });

  test.each([
    [1, 0],
    [128, 0],
    [129, 1],
    [512, 1],
    [513, 2],
    [2048, 2],
    [4096, 2], // beyond what was measured, the last holds
  ])('decides decode over %i keys by entry %i', (kvLen, entry) => {
    const { name, parameters, reason } = selectAttention({ ...decode, kvLen, profile: PROFILE });
    expect({ name, reason }).toEqual({ name: PROFILE.decode[entry].name, reason: 'tuned on this GPU 2026-11-21' });
    expect(parameters).toMatchObject(PROFILE.decode[entry].parameters);
  });

  test('whose parameters no longer plan is ignored, and the reason says so', () => {
    const parameters = { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 128 };
    const choice = selectAttention({
      ...prefill,
      profile: { ...PROFILE, prefill: { ...PROFILE.prefill, parameters } },
    });
    expect(choice).toMatchObject({ name: 'flash_prefill', parameters: { DV_TILE: 64 } });
    expect(choice.reason).toBe(
      `${DEFAULT}; instead of flash_prefill: what was tuned cannot run: DV_TILE 128 does not divide head_dim 64`,
    );
  });

  test('gives way where its sibling was set aside', () => {
    const choice = selectAttention({ ...decode, profile: PROFILE, setAside: broken('fused_decode') });
    expect(choice.name).toBe('split_kv_decode');
  });

  test('of no decode lengths decides prefill alone', () => {
    const profile = { ...PROFILE, decode: [] };
    expect(selectAttention({ ...decode, profile }).rule).toBe(DEFAULT);
    expect(selectAttention({ ...prefill, profile }).rule).toContain('tuned');
  });
});

describe('a forced name', () => {
  test('is taken for prefill and decode alike, whatever the profile says', () => {
    for (const forced of ['flash_prefill', 'fused_decode', 'split_kv_decode'] as const) {
      for (const request of [decode, prefill]) {
        const choice = selectAttention({ ...request, forced, profile: PROFILE });
        expect(choice).toMatchObject({ name: forced, reason: 'asked for by name', skipped: [] });
      }
    }
  });

  test('that does not fit is a typed error with the number', () => {
    const request = { ...prefill, limits: { ...limits, maxComputeInvocationsPerWorkgroup: 64 } };
    expect(() => selectAttention({ ...request, forced: 'flash_prefill' })).toThrow(AttentionUnavailable);
    expect(() => selectAttention({ ...request, forced: 'flash_prefill' })).toThrow('grants 64');
  });

  test('that was set aside is a typed error with what is wrong', () => {
    const request = { ...prefill, forced: 'flash_prefill', setAside: broken('flash_prefill') } as const;
    expect(() => selectAttention(request)).toThrow(AttentionUnavailable);
    expect(() => selectAttention(request)).toThrow('"flash_prefill" cannot run here: its outputs are wrong.');
  });
});

test('createAttention compiles what was selected', async () => {
  const gpu = await hardwareGpu();
  for (const request of [decode, prefill, { ...decode, kvLen: 1000 }]) {
    const { name, parameters } = selectAttention(request);
    expect(await createAttention(gpu, name, shape, parameters)).toMatchObject({ name, parameters });
  }
});
