// The choice of workgroups and threads for a fused step, as a function of what a GPU was seen to do.

import { expect, test } from 'vitest';
import type { StepShape } from '../../../src/kernels/step/step_plan';
import { chooseGroups, findLaunch, firstTimed, fittingGroups, timedNext } from '../../../src/model/step/step_launch';
import { testGpu } from '../../gpu/test_device';

const LIMITS = { maxComputeWorkgroupStorageSize: 49152, maxComputeInvocationsPerWorkgroup: 1024 };

const LLAMA_1B: StepShape = {
  rows: 1,
  nLayers: 16,
  hiddenSize: 2048,
  intermediateSize: 8192,
  nHeads: 32,
  nKvHeads: 8,
  headDim: 64,
  contextLength: 1024,
  kvType: 'f16',
  kvLayerBytes: 2 ** 20,
  attentionScale: 0.125,
  normEps: 1e-5,
  qkNormEps: null,
  qkvBias: false,
  activation: 'silu',
  residualScale: 1,
  formats: {
    qkv: [[{ format: 'q4', rows: 3072 }]],
    o: [[{ format: 'q4', rows: 2048 }]],
    gateUp: [[{ format: 'q4', rows: 16384 }]],
    down: [[{ format: 'q4', rows: 2048 }]],
  },
};

function fitting(shape = LLAMA_1B, threads = 512, limits = LIMITS): number[] {
  const groups = fittingGroups(shape, threads, 32, limits);
  if (typeof groups === 'string') throw new Error(groups);
  return groups;
}

/** The choice on a GPU with so many multiprocessors: two workgroups on one take `shared` times as long. */
function chosenOn(multiprocessors: number, resident: number, shared = 5) {
  const possible = fitting().filter((groups) => groups <= 0.97 * resident);
  const us = (groups: number) => (groups <= multiprocessors ? 0.75 + groups / 1000 : shared * 0.88);
  const rounds = new Map<number, number>();
  for (const next of [firstTimed, timedNext]) {
    for (const groups of next(possible, rounds)) rounds.set(groups, us(groups));
  }
  return { groups: chooseGroups(rounds), timed: [...rounds.keys()] };
}

test('the workgroups of 1B divide its 128 blocks, or own the same number of blocks with fewest workgroups', () => {
  expect(fitting()).toEqual([128, 64, 43, 32, 26, 22, 19, 16, 15, 13, 12, 11, 10, 9, 8]); // 8 KV heads
});

test('a large GPU takes all 128', () => {
  expect(chosenOn(132, 132)).toEqual({ groups: 128, timed: [128, 64, 32, 16, 8] });
  expect(chosenOn(132, 528).groups).toBe(128);
});

test('a laptop with 20 multiprocessors takes as many as it runs alone', () => {
  expect(chosenOn(20, 20).groups).toBe(19);
  const three = chosenOn(20, 60); // three on each, as far as memory goes
  expect(three.groups).toBe(19);
  expect(three.timed).toEqual([43, 22, 12, 19, 16, 15, 13]);
  expect(three.timed.length).toBeLessThan(fitting().length);
});

test('workgroups that share a multiprocessor without a loss are taken', () => {
  expect(chosenOn(20, 60, 1.2).groups).toBe(43);
});

test('the fewest workgroups run where all others are slow', () => {
  expect(
    chooseGroups(
      new Map(
        [
          [43, 9],
          [22, 5],
          [12, 3],
        ].map(([groups, us]) => [groups, us]),
      ),
    ),
  ).toBe(12);
  expect(
    chooseGroups(
      new Map(
        [
          [43, 4.8],
          [22, 3.2],
          [12, 2],
        ].map(([groups, us]) => [groups, us]),
      ),
    ),
  ).toBe(22);
  expect(chooseGroups(new Map([[7, 0]]))).toBe(7);
});

test('a shape that no number of workgroups can run says why', () => {
  const few = { ...LIMITS, maxComputeInvocationsPerWorkgroup: 256 };
  expect(fittingGroups(LLAMA_1B, 512, 32, few)).toBe('512 threads exceed the 256 of a workgroup on this GPU');
  expect(fitting(LLAMA_1B, 256, few)[0]).toBe(128);
  const small = { ...LIMITS, maxComputeWorkgroupStorageSize: 16384 };
  expect(fittingGroups(LLAMA_1B, 512, 32, small)).toMatch(/^\d+ bytes of workgroup memory exceed the 16384 of/);
});

test('workgroups of which memory holds too many rows are left out', () => {
  const small = { ...LIMITS, maxComputeWorkgroupStorageSize: 28672 };
  const groups = fitting(LLAMA_1B, 512, small);
  expect(groups[0]).toBe(128);
  expect(groups.length).toBeLessThan(fitting().length);
});

test('an adapter that computes on the CPU gets a small launch without a measurement', async () => {
  const gpu = await testGpu();
  if (gpu.isSoftware) expect(await findLaunch(gpu, LLAMA_1B)).toEqual({ groups: 2, threads: 64 });
});
