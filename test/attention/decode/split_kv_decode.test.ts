// split_kv_decode against the reference: splits, merging and all cases of the suite.

import { describe, expect, test } from 'vitest';
import { mergedQ8 } from '../../../src/attention/decode/merged_q8';
import { createSplitKvDecode, planSplitKvDecode, untunedSplits } from '../../../src/attention/decode/split_kv_decode';
import { CommandList } from '../../../src/gpu/kernel';
import { xqBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { ZERO_BELOW } from '../../../src/kernels/linear/weight_format';
import { hardwareGpu, PATHS } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { geometry, PROGRESS, SMALL } from '../cases';
import { testParameters, testSibling } from '../suite';

testSibling('split_kv_decode', 1, { differs: true });

describe.each(PATHS.map((without) => ({ without })))('merged into signed bytes, without $without', ({ without }) => {
  test.each([
    [32, 3],
    [64, 1],
  ])('heads of %i, %i tokens: each value as it would be, to half a step', async (headDim, nTokens) => {
    const gpu = await hardwareGpu(without);
    const shape = {
      ...SMALL,
      headDim,
      nHeads: 4,
      nKvHeads: 2,
      contextLength: 64,
      maxTokens: 4,
      kvType: 'f32' as const,
    };
    const [nQ, nKv] = [nTokens * 4 * headDim, 2 * 64 * headDim];
    const [q, k, v] = [nQ, nKv, nKv].map((n, i) => gpu.upload(`${i}`, randomArray(n, 70 + i, 1)));
    const plain = gpu.upload('plain', new Float32Array(nQ));
    const bytes = gpu.upload('bytes', new Uint8Array(xqBytes(nTokens, 4 * headDim)));
    for (const [out, merged] of [[plain, undefined] as const, [bytes, mergedQ8(ZERO_BELOW)] as const]) {
      const kernel = await createSplitKvDecode(gpu, shape, { SPLITS: 3 }, merged);
      const list = new CommandList(gpu);
      kernel.bind(q, k, v, out, null).record(list, nTokens);
      await list.run({ position: 40, nTokens });
    }
    const expected = new Float32Array(await gpu.read(plain));
    const read = await gpu.read(bytes);
    expect(gpu.failure).toBeNull();
    const [found, d] = [new Int8Array(read), new Float32Array(read, nQ)];
    for (const [i, value] of expected.entries()) {
      const scale = d[Math.floor(i / 32)];
      expect(Math.abs(found[i] * scale - value)).toBeLessThan(0.501 * scale);
    }
    expect([...d.subarray(0, nQ / 32)].every((scale) => scale > 0)).toBe(true);
  });
});

const lengths = PROGRESS.filter((c) => c.nTokens === 1);
testParameters('split_kv_decode', [], { SPLITS: 1 }, lengths);
testParameters('split_kv_decode', [], { SPLITS: 7, WORKGROUP: 64 }, lengths);
testParameters('split_kv_decode', ['subgroups'], { SPLITS: 256, WORKGROUP: 32, HEADS: 3 }, lengths);
testParameters('split_kv_decode', [], { SPLITS: 12, WORKGROUP: 256, HEADS: 1 }, geometry(64, 1, 8, 'f16'));

const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};

test('splits grow with the cache until the GPU is full, then each takes more threads', () => {
  const shape = { ...SMALL, nKvHeads: 8, nHeads: 32 };
  const untuned = (kvLen: number, nKvHeads = 8) => {
    const { SPLITS, WORKGROUP } = untunedSplits(kvLen, { ...shape, nKvHeads, nHeads: 4 * nKvHeads }, limits);
    return [SPLITS, WORKGROUP];
  };
  expect([1, 255, 256, 512, 4096].map((kvLen) => untuned(kvLen)[0])).toEqual([1, 1, 2, 4, 32]);
  expect([untuned(4096), untuned(8192), untuned(2 ** 17)]).toEqual([
    [32, 128],
    [32, 256],
    [32, 256],
  ]);
  expect(untuned(2 ** 17, 1)[0]).toBe(256);
  expect(untuned(2 ** 17, 600)[0]).toBe(1);
});

test('a short cache is split in four where the output projection merges the parts', () => {
  const shape = { ...SMALL, nKvHeads: 8, nHeads: 32, partsMergeInO: true };
  const untuned = (kvLen: number) => untunedSplits(kvLen, shape, limits).SPLITS;
  expect([1, 32, 64, 128, 256, 512, 1024, 4096].map(untuned)).toEqual([1, 1, 2, 4, 4, 4, 8, 32]);
});

test('scratch memory grows with splits, not with the cache', () => {
  const bytes = (contextLength: number, SPLITS: number) =>
    planSplitKvDecode({ ...SMALL, maxTokens: 1, contextLength }, limits, { SPLITS }).scratchBytes;
  expect(bytes(2 ** 17, 64)).toBe(bytes(64, 64));
  expect(bytes(64, 64)).toBe(64 * SMALL.nHeads * (SMALL.headDim * 4 + 8) + 16);
});

test.each([
  [{ SPLITS: 257 }, 'SPLITS 257 is above 256'],
  [{ SPLITS: 0 }, 'SPLITS 0 is no positive whole number'],
  [{ WORKGROUP: 48 }, 'WORKGROUP 48 is no power of two from 16 up'],
  [{ WORKGROUP: 512 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ TILE: 64 }, 'has no parameter TILE, only WORKGROUP, HEADS, SPLITS'],
])('%o is refused before anything is compiled', (given, reason) => {
  expect(() => planSplitKvDecode({ ...SMALL, headDim: 128 }, limits, given)).toThrow(reason);
});
