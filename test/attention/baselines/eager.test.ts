// eager against the reference: plan, limits and all cases of the suite.

import { expect, test } from 'vitest';
import { planEager } from '../../../src/attention/baselines/baseline_plans';
import { createEager } from '../../../src/attention/baselines/eager';
import { CommandList } from '../../../src/gpu/kernel';
import { hardwareGpu } from '../../gpu/test_device';
import { geometry, SMALL } from '../cases';
import { LEAST_LIMITS, testParameters, testSibling } from '../suite';

testSibling('eager', 0);

// Slabs of 3, 3 and 2 heads: of a group of 4, and across two groups.
testParameters('eager', [], { HEADS: 3 }, geometry(32, 2, 4, 'f32'));
testParameters('eager', ['immediates'], { HEADS: 1, WORKGROUP: 40 }, geometry(64, 1, 3, 'f16'));
testParameters('eager', [], { WORKGROUP: 16 }, geometry(256, 1, 1, 'f16'));

const LONG = { ...SMALL, nHeads: 32, nKvHeads: 8, headDim: 128, contextLength: 8192, maxTokens: 8192 };

test('a slab has as many heads as 1 GiB holds, dealt evenly', () => {
  const limits = { ...LEAST_LIMITS, maxStorageBufferBindingSize: 2 ** 31 };
  const plan = (maxTokens: number) => planEager({ ...LONG, maxTokens }, limits);
  expect(plan(8192)).toMatchObject({ parameters: { HEADS: 4 }, scratchBytes: 2 ** 30 + 8 * 16 });
  expect(plan(4096).parameters.HEADS).toBe(8);
  expect(plan(3000).parameters.HEADS).toBe(8); // 10 would fit, in 4 slabs as well
  expect(plan(256).parameters.HEADS).toBe(32);
  const longer = { ...LONG, contextLength: 2 ** 15, maxTokens: 2 ** 13 + 1 };
  expect(planEager(longer, limits).parameters.HEADS).toBe(1); // more than 1 GiB, less than a binding
});

test('a GPU that binds less gets smaller slabs, one that cannot bind the scores of a head a refusal', () => {
  expect(planEager({ ...LONG, maxTokens: 256 }, LEAST_LIMITS).parameters.HEADS).toBe(16);
  expect(() => planEager(LONG, LEAST_LIMITS)).toThrow(
    'needs 268435456 bytes of scratch memory in one binding, this GPU grants 134217728',
  );
});

test('a GPU with few invocations gets a smaller workgroup', () => {
  const few = { ...LEAST_LIMITS, maxComputeInvocationsPerWorkgroup: 100 };
  expect(planEager(SMALL, few).parameters.WORKGROUP).toBe(100);
});

test.each([
  [{ HEADS: 5 }, 'HEADS 5 is above 4'],
  [{ HEADS: 0 }, 'HEADS 0 is no positive whole number'],
  [{ WORKGROUP: 15 }, 'WORKGROUP 15 is below 16'],
  [{ WORKGROUP: 512 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ CHUNK: 8 }, 'has no parameter CHUNK, only HEADS, WORKGROUP'],
])('%o is refused before anything is compiled', (given, reason) => {
  expect(() => planEager(SMALL, LEAST_LIMITS, given)).toThrow(reason);
});

test('nothing is fused: five dispatches a slab', async () => {
  const gpu = await hardwareGpu();
  const kernel = await createEager(gpu, SMALL, { HEADS: 3 });
  const [q, k, v, out] = ['q', 'k', 'v', 'out'].map((name) => gpu.upload(name, new Float32Array(32 * 4 * 32)));
  const bound = kernel.bind(q, k, v, out, null);
  const list = new CommandList(gpu);
  bound.record(list, 32);
  expect(list.commands).toHaveLength(2 * 5);
  expect(() => bound.record(list, 33)).toThrow('its scores hold 32 tokens, not 33');
});
