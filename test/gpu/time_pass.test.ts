// Times of GPU work, on the GPU's clock and on the CPU's.

import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Gpu } from '../../src/gpu/device';
import { type CommandList, createKernel } from '../../src/gpu/kernel';
import { type PassTimeOptions, timePass } from '../../src/gpu/time_pass';
import { testGpu } from './test_device';

const STEP = { position: 0, nTokens: 1 };
const wgsl = `@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var x = i;
  for (var turn = 0u; turn < TURNS; turn++) { x = x * 1664525u + 1013904223u; }
  out[i] = x;
}`;

/** Adds one dispatch of `turns` turns, and records the numbers of the repeats. */
async function work(gpu: Gpu, turns = 1000) {
  const label = 'test/turns';
  const kernel = await createKernel(gpu, { label, wgsl: [wgsl], constants: { TURNS: turns }, bindings: ['write'] });
  const out = gpu.upload('out', new Uint32Array(64));
  const group = kernel.bind(out);
  const asked: number[] = [];
  const add = (list: CommandList, repeat: number) => {
    asked.push(repeat);
    list.add(kernel, group, 1);
  };
  return { add, asked, free: () => gpu.destroyBuffer(out) };
}

for (const [clock, without] of [
  ['gpu', []],
  ['cpu', ['timestamps']],
] as const) {
  describe(`on the clock of the ${clock}`, () => {
    test('a short pass is repeated until the repeats are as many as allowed', async () => {
      const gpu = await testGpu(without);
      const { add, free } = await work(gpu);
      const capped = await timePass(gpu, STEP, add, { minMs: 1e6, rounds: 1, maxRepeats: 20 });
      expect(capped).toMatchObject({ clock, repeats: 20 });
      expect(capped.ms).toBeGreaterThan(0);
      free();
    });

    test('it rotates over as many repeats as it was asked for, each round from the first on', async () => {
      const gpu = await testGpu(without);
      const { add, asked, free } = await work(gpu, 1);
      const { repeats } = await timePass(gpu, STEP, add, { minMs: 0, rounds: 3, minRepeats: 37 });
      expect(repeats).toBeGreaterThanOrEqual(37);
      const round = Array.from({ length: repeats }, (_, i) => i);
      expect(asked.slice(-3 * repeats)).toEqual([...round, ...round, ...round]);
      free();
    });

    test('nothing that it made on the GPU is left', async () => {
      const gpu = await testGpu(without);
      const { add, free } = await work(gpu);
      const before = gpu.allocatedBytes;
      await timePass(gpu, STEP, add, { minMs: 0, rounds: 1 });
      const broken = (list: CommandList, repeat: number) => {
        if (repeat > 0) throw new Error('no second repeat');
        add(list, repeat);
      };
      await expect(timePass(gpu, STEP, broken, { minMs: 1e6 })).rejects.toThrow('no second repeat');
      expect(gpu.allocatedBytes).toBe(before);
      free();
    });
  });
}

describe('work of the CPU in the pass, by a clock that the work moves', () => {
  const WORK_MS = 20;
  const runs: number[] = [];
  let now = 0;
  const add = (list: CommandList, repeat: number) =>
    list.addHost(async () => {
      runs.push(repeat);
      now += WORK_MS;
    });
  const timed = async (options: PassTimeOptions) => {
    runs.length = 0;
    const gpu = await testGpu();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    return timePass(gpu, STEP, add, options);
  };
  afterEach(() => void vi.restoreAllMocks());

  test('is timed by the clock of the CPU', async () => {
    expect(await timed({ minMs: 1, rounds: 1 })).toEqual({ clock: 'cpu', ms: WORK_MS, repeats: 1 });
  });

  test('is repeated until a round is long enough', async () => {
    expect(await timed({ minMs: 50, rounds: 2 })).toEqual({ clock: 'cpu', ms: WORK_MS, repeats: 3 });
    expect(runs).toEqual([0, 0, 0, 1, 2, 0, 1, 2]);
  });

  test('is run twice where it outlasts the budget: to warm up, and to be timed', async () => {
    const { repeats } = await timed({ minMs: 1000, rounds: 5, minRepeats: 9, budgetMs: WORK_MS });
    expect([repeats, runs]).toEqual([1, [0, 0]]);
  });
});

test('an error of the device is thrown, not timed', async () => {
  const gpu = await testGpu(['immediates']); // a device of its own, because its failure is permanent
  const { add } = await work(gpu);
  gpu.device.createBuffer({ size: 16, usage: 0x0003 }); // MAP_READ and MAP_WRITE exclude each other
  await expect(timePass(gpu, STEP, add, { minMs: 1 })).rejects.toMatchObject({ code: 'gpu-program' });
});
