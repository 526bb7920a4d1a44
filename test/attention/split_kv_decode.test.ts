import { expect, test } from 'vitest';
import { planSplitKvDecode, splitsFor } from '../../src/attention/split_kv_decode';
import { geometry, PROGRESS, SMALL } from './cases';
import { testParameters, testSibling } from './suite';

testSibling('split_kv_decode', { subgroups: true });

const lengths = PROGRESS.filter((c) => c.shape.headDim === 64 && c.nTokens === 1);
testParameters('split_kv_decode', [], { SPLITS: 1 }, lengths);
testParameters('split_kv_decode', [], { SPLITS: 7, WORKGROUP: 64 }, lengths);
testParameters('split_kv_decode', ['subgroups'], { SPLITS: 256, WORKGROUP: 32, HEADS: 3 }, lengths);
testParameters('split_kv_decode', [], { SPLITS: 12, WORKGROUP: 256, HEADS: 1 }, geometry(64, 1, 8, 'f16'));

const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};

test('splits grow with the cache until the GPU is full', () => {
  const shape = { ...SMALL, nKvHeads: 8 };
  expect([1, 64, 127, 128, 512, 2048, 4096, 2 ** 17].map((kvLen) => splitsFor(kvLen, shape))).toEqual([
    1, 1, 1, 2, 8, 32, 64, 64,
  ]);
  expect(splitsFor(2 ** 17, { ...shape, nKvHeads: 1 })).toBe(256);
  expect(splitsFor(2 ** 17, { ...shape, nKvHeads: 600 })).toBe(1);
});

test('scratch memory grows with splits, not with the cache', () => {
  const bytes = (contextLength: number, SPLITS: number) =>
    planSplitKvDecode({ ...SMALL, maxTokens: 1, contextLength }, limits, { SPLITS }).scratchBytes;
  expect(bytes(2 ** 17, 64)).toBe(bytes(64, 64));
  expect(bytes(64, 64)).toBe(64 * SMALL.nHeads * (SMALL.headDim * 4 + 8));
});

test.each([
  [{ SPLITS: 257 }, 'SPLITS 257 is above 256'],
  [{ SPLITS: 0 }, 'SPLITS 0 is no positive whole number'],
  [{ WORKGROUP: 48 }, 'WORKGROUP 48 is no power of two from 16 up'],
  [{ WORKGROUP: 512 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ TILE: 64 }, 'has no parameter TILE, only SPLITS, WORKGROUP, HEADS'],
])('%o is refused before anything is compiled', (given, reason) => {
  expect(() => planSplitKvDecode({ ...SMALL, headDim: 128 }, limits, given)).toThrow(reason);
});
