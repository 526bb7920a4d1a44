// chunked against the reference: plan, limits and all cases of the suite.

import { expect, test } from 'vitest';
import { planChunked } from '../../../src/attention/baselines/baseline_plans';
import { createChunked } from '../../../src/attention/baselines/chunked';
import { CommandList } from '../../../src/gpu/kernel';
import { hardwareGpu } from '../../gpu/test_device';
import { type AttentionCase, geometry, SMALL } from '../cases';
import { LEAST_LIMITS, testParameters, testSibling } from '../suite';

testSibling('chunked', 1);

const shape = { ...SMALL, nHeads: 6, kvType: 'f16' as const }; // a group of 3: a thread's rows cross tokens
const around7: AttentionCase[] = [1, 6, 7, 8, 14, 15].map((nTokens) => ({
  title: `position=20 n_tokens=${nTokens}`,
  shape,
  position: 20,
  nTokens,
}));
testParameters('chunked', [], { CHUNK: 7 }, around7);
testParameters('chunked', ['immediates'], { CHUNK: 1 }, around7.slice(2, 3));
testParameters('chunked', [], { CHUNK: 19, WORKGROUP: 100 }, geometry(128, 1, 4, 'f32')); // 3 slices, 4 threads idle
testParameters('chunked', [], { WORKGROUP: 64 }, geometry(256, 1, 1, 'f16')); // 1 slice
testParameters('chunked', [], { WORKGROUP: 16 }, geometry(32, 1, 3, 'f16'));

const LONG = { ...SMALL, nHeads: 32, nKvHeads: 8, headDim: 128, contextLength: 8192, maxTokens: 8192 };

test('the scores of 32 tokens are kept, fewer where a pass has fewer or a binding holds fewer', () => {
  const plan = (changes: Partial<typeof LONG>) => planChunked({ ...LONG, ...changes }, LEAST_LIMITS);
  expect(plan({})).toMatchObject({ parameters: { CHUNK: 32 }, scratchBytes: 2 ** 25 + 256 * 16 });
  expect(plan({ maxTokens: 20 }).parameters.CHUNK).toBe(20);
  expect(plan({ contextLength: 2 ** 17 }).parameters.CHUNK).toBe(8);
  expect(() => plan({ contextLength: 2 ** 21 })).toThrow(
    'needs 268435456 bytes of scratch memory in one binding, this GPU grants 134217728',
  );
});

test('the default workgroup fits 16 KiB at every head_dim', () => {
  for (let headDim = 8; headDim <= 256; headDim += 8) {
    expect(planChunked({ ...SMALL, headDim }, LEAST_LIMITS).parameters).toEqual({ CHUNK: 32, WORKGROUP: 256 });
  }
});

test.each([
  [{ CHUNK: 33 }, 'CHUNK 33 is above the 32 tokens of a pass'],
  [{ CHUNK: 1.5 }, 'CHUNK 1.5 is no positive whole number'],
  [{ WORKGROUP: 31 }, 'WORKGROUP 31 is below the 32 that head_dim 128 needs'],
  [{ WORKGROUP: 512 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ HEADS: 2 }, 'has no parameter HEADS, only CHUNK, WORKGROUP'],
])('%o is refused before anything is compiled', (given, reason) => {
  expect(() => planChunked({ ...SMALL, headDim: 128 }, LEAST_LIMITS, given)).toThrow(reason);
});

test('three dispatches a chunk', async () => {
  const gpu = await hardwareGpu();
  const kernel = await createChunked(gpu, SMALL, { CHUNK: 15 });
  const [q, k, v, out] = ['q', 'k', 'v', 'out'].map((name) => gpu.upload(name, new Float32Array(32 * 4 * 32)));
  const bound = kernel.bind(q, k, v, out, null);
  const list = new CommandList(gpu);
  bound.record(list, 31);
  expect(list.commands).toHaveLength(3 * 3);
  expect(() => bound.record(list, 33)).toThrow('its chunks hold 32 tokens, not 33');
});
