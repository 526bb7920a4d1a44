// fused_decode against the reference: plan, limits and all cases of the suite.

import { expect, test } from 'vitest';
import { planFusedDecode } from '../../../src/attention/decode/fused_decode';
import { geometry, SMALL } from '../cases';
import { testParameters, testSibling } from '../suite';

testSibling('fused_decode', 0, { differs: true });

const group8 = geometry(64, 1, 8, 'f16');
testParameters('fused_decode', [], { WORKGROUP: 32, HEADS: 3 }, group8);
testParameters('fused_decode', ['subgroups'], { WORKGROUP: 256, HEADS: 1 }, group8);

const limits = {
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxStorageBufferBindingSize: 2 ** 27,
};

test('the default workgroup fits 16 KiB at every head_dim and group', () => {
  for (let headDim = 8; headDim <= 256; headDim += 8) {
    for (const group of [1, 3, 4, 7, 8, 9, 19, 71]) {
      const shape = { ...SMALL, nHeads: 2 * group, headDim };
      const tight = headDim > 192 && group > 4; // two quads of heads
      expect(planFusedDecode(shape, limits).parameters.WORKGROUP).toBe(tight ? 64 : 128);
    }
  }
});

test('a group above 8 is dealt evenly over the fewest workgroups', () => {
  const heads = (group: number) => planFusedDecode({ ...SMALL, nHeads: 2 * group }, limits).parameters.HEADS;
  expect([1, 8, 9, 12, 17, 71].map(heads)).toEqual([1, 8, 5, 6, 6, 8]);
});

test('a GPU with few invocations gets a smaller workgroup', () => {
  const few = { ...limits, maxComputeInvocationsPerWorkgroup: 100 };
  expect(planFusedDecode(SMALL, few).parameters.WORKGROUP).toBe(64);
});

test.each([
  [{ WORKGROUP: 48 }, 'WORKGROUP 48 is no power of two from 16 up'],
  [{ WORKGROUP: 16 }, 'head_dim 256 needs a WORKGROUP of 32 or more, not 16'],
  [{ WORKGROUP: 512 }, 'needs 512 invocations in a workgroup, this GPU grants 256'],
  [{ WORKGROUP: 256 }, 'needs 28672 bytes of workgroup memory, this GPU grants 16384'],
  [{ HEADS: 9 }, 'HEADS 9 is above 8'],
  [{ TILE: 64 }, 'has no parameter TILE, only WORKGROUP, HEADS'],
])('%o is refused before anything is compiled', (given, reason) => {
  const shape = { ...SMALL, nHeads: 16, headDim: 256 };
  expect(() => planFusedDecode(shape, limits, given)).toThrow(reason);
});
