import { describe, expect, test } from 'vitest';
import { ATTENTION_NAMES } from '../../src/attention/attention';
import { createAttention } from '../../src/attention/create';
import { selectAttention } from '../../src/attention/select';
import { AttentionUnavailable } from '../../src/errors';
import { testGpu } from '../gpu/test_device';

const shape = { nHeads: 32, nKvHeads: 8, headDim: 64, contextLength: 4096, maxTokens: 256, kvType: 'f16' as const };
const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};
const decode = { nTokens: 1, kvLen: 200, shape, limits };
const prefill = { nTokens: 100, kvLen: 200, shape, limits };
const NOT_BUILT = ['cpu', 'eager', 'chunked', 'split_kv_decode'] as const;

describe('selectAttention', () => {
  test('one token is decode, more are prefill', () => {
    expect(selectAttention(decode)).toEqual({
      name: 'fused_decode',
      parameters: { WORKGROUP: 128, HEADS: 4 },
      reason: 'decode over 200 keys: one pass, K and V read once per KV head',
    });
    expect(selectAttention({ ...prefill, forced: 'auto' })).toEqual({
      name: 'flash_prefill',
      parameters: { BLOCK_M: 64, BLOCK_N: 32, DV_TILE: 64 },
      reason: 'prefill of 100 tokens over 200 keys: query blocks share each tile of keys',
    });
  });

  test('a forced name is taken for prefill and decode alike', () => {
    for (const forced of ['flash_prefill', 'fused_decode'] as const) {
      for (const request of [decode, prefill]) {
        expect(selectAttention({ ...request, forced })).toMatchObject({ name: forced, reason: 'asked for by name' });
      }
    }
  });

  test.each(NOT_BUILT)('%s, forced, is a typed error: it is not built yet', (forced) => {
    expect(() => selectAttention({ ...decode, forced })).toThrow(AttentionUnavailable);
    expect(() => selectAttention({ ...decode, forced })).toThrow(
      `Attention "${forced}" cannot run here: it is not built`,
    );
  });

  test('every name is either built or refused by name', () => {
    const built = ATTENTION_NAMES.filter((name) => !NOT_BUILT.some((other) => other === name));
    expect(built).toEqual(['flash_prefill', 'fused_decode']);
  });

  test('auto goes to the other sibling where the first does not fit, and says why', () => {
    const small = { ...limits, maxComputeWorkgroupStorageSize: 12000 };
    const choice = selectAttention({ ...prefill, limits: small });
    expect(choice.name).toBe('fused_decode');
    expect(choice.reason).toContain('needs 16384 bytes of workgroup memory, this GPU grants 12000');
  });

  test('a forced sibling that does not fit is a typed error with the number', () => {
    const small = { ...limits, maxComputeWorkgroupStorageSize: 12000 };
    expect(() => selectAttention({ ...prefill, limits: small, forced: 'flash_prefill' })).toThrow(AttentionUnavailable);
    expect(() => selectAttention({ ...prefill, limits: small, forced: 'flash_prefill' })).toThrow('grants 12000');
  });

  test.each([
    [{ headDim: 264 }, 'head_dim 264 is above 256'],
    [{ headDim: 36 }, 'head_dim 36 is no multiple of 8'],
    [{ nHeads: 30 }, '30 query heads do not share 8 key heads evenly'],
  ])('a shape that no sibling serves is refused: %o', (odd, reason) => {
    expect(() => selectAttention({ ...decode, shape: { ...shape, ...odd } })).toThrow(reason);
  });
});

test('createAttention compiles what is built and refuses the rest with the same error', async () => {
  const gpu = await testGpu();
  const { name, parameters } = selectAttention(decode);
  expect(await createAttention(gpu, name, shape, parameters)).toMatchObject({ name, parameters });
  for (const other of NOT_BUILT) {
    await expect(createAttention(gpu, other, shape)).rejects.toThrow(/not built yet/);
  }
});
