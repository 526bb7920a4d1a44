// flash_prefill against the reference: plan, limits and all cases of the suite.

import { expect, test } from 'vitest';
import { planFlashPrefill } from '../../src/attention/flash_prefill';
import { geometry, SMALL } from './cases';
import { testParameters, testSibling } from './suite';

testSibling('flash_prefill', 0);

const prefill = (headDim: number) => geometry(headDim, 1, 4, 'f16').slice(1);
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 128 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 32 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 16, DV_TILE: 16 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 4, BLOCK_N: 12, DV_TILE: 20 }, prefill(80));

const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};

test('the default blocks fit 16 KiB at every head_dim', () => {
  for (let headDim = 8; headDim <= 256; headDim += 8) {
    const { parameters } = planFlashPrefill({ ...SMALL, headDim }, limits);
    expect(parameters).toEqual({ BLOCK_M: 64, BLOCK_N: 32, DV_TILE: headDim > 128 ? headDim / 2 : headDim });
  }
});

test('a GPU that grants more gets a larger tile of keys', () => {
  const wide = { ...limits, maxComputeWorkgroupStorageSize: 32768 };
  expect(planFlashPrefill({ ...SMALL, headDim: 128 }, wide).parameters.BLOCK_N).toBe(64);
  const few = { ...wide, maxComputeInvocationsPerWorkgroup: 128 };
  expect(planFlashPrefill({ ...SMALL, headDim: 128 }, few).parameters.BLOCK_N).toBe(32);
});

test.each([
  [{ DV_TILE: 48 }, 'DV_TILE 48 does not divide head_dim 128'],
  [{ DV_TILE: 2 }, 'DV_TILE 2 is no multiple of 4'],
  [{ BLOCK_M: 30 }, 'BLOCK_M 30 is no multiple of 4'],
  [{ BLOCK_N: 0 }, 'BLOCK_N 0 is no positive whole number'],
  [{ BLOCK_M: 128, BLOCK_N: 64 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ BLOCK_M: 64, BLOCK_N: 64 }, 'needs 24576 bytes of workgroup memory, this GPU grants 16384'],
  [{ BLOCK_K: 8 }, 'has no parameter BLOCK_K, only BLOCK_M, BLOCK_N, DV_TILE'],
])('%o is refused before anything is compiled', (given, reason) => {
  expect(() => planFlashPrefill({ ...SMALL, headDim: 128 }, limits, given)).toThrow(reason);
});
