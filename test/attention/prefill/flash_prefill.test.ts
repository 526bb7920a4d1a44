// flash_prefill against the reference: plan, limits and all cases of the suite.

import { expect, test } from 'vitest';
import { planFlashPrefill } from '../../../src/attention/prefill/flash_prefill';
import { geometry, SMALL } from '../cases';
import { testParameters, testSibling } from '../suite';

testSibling('flash_prefill', 0);

const prefill = (headDim: number) => geometry(headDim, 1, 4, 'f16').slice(1);
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 128 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 32 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 16, DV_TILE: 16 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 4, BLOCK_N: 12, DV_TILE: 20 }, prefill(80));
testParameters('flash_prefill', [], { BLOCK_M: 64, BLOCK_N: 64, KEYS: 4, DV_TILE: 64 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 128, ROWS: 8, KEYS: 8 }, prefill(128));
testParameters('flash_prefill', [], { BLOCK_M: 16, BLOCK_N: 32, DV_TILE: 80, ROWS: 8, KEYS: 4 }, prefill(80));

const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};

test('the default blocks fit 16 KiB and 128 invocations at every head_dim', () => {
  const least = { ...limits, maxComputeInvocationsPerWorkgroup: 128 };
  for (let headDim = 8; headDim <= 256; headDim += 8) {
    const { parameters } = planFlashPrefill({ ...SMALL, headDim }, least);
    const DV_TILE = headDim > 128 ? headDim / 2 : headDim;
    expect(parameters).toEqual({ BLOCK_M: 64, BLOCK_N: 64, DV_TILE, ROWS: 4, KEYS: 8 });
  }
});

test('a narrow tile has fewer keys a thread', () => {
  const { parameters } = planFlashPrefill({ ...SMALL, headDim: 128 }, limits, { BLOCK_N: 32 });
  expect(parameters).toMatchObject({ BLOCK_N: 32, KEYS: 4 });
});

test.each([
  [{ DV_TILE: 48 }, 'DV_TILE 48 does not divide head_dim 128'],
  [{ DV_TILE: 2 }, 'DV_TILE 2 is no multiple of 4'],
  [{ BLOCK_M: 30 }, 'BLOCK_M 30 is no multiple of 4'],
  [{ BLOCK_N: 0 }, 'BLOCK_N 0 is no positive whole number'],
  [{ ROWS: 6 }, 'ROWS 6 is no multiple of 4'],
  [{ ROWS: 12 }, 'ROWS 12 does not divide BLOCK_M 64'],
  [{ BLOCK_N: 100 }, 'KEYS 8 does not divide BLOCK_N 100'],
  [{ BLOCK_M: 128, BLOCK_N: 128 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ BLOCK_M: 128, BLOCK_N: 64 }, 'needs 28672 bytes of workgroup memory, this GPU grants 16384'],
  [{ BLOCK_K: 8 }, 'has no parameter BLOCK_K, only BLOCK_M, BLOCK_N, DV_TILE, ROWS, KEYS'],
])('%o is refused before anything is compiled', (given, reason) => {
  expect(() => planFlashPrefill({ ...SMALL, headDim: 128 }, limits, given)).toThrow(reason);
});
