import { describe, expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/device';
import { type CommandList, createKernel } from '../../src/gpu/kernel';
import { timePass } from '../../src/gpu/time_pass';
import { testGpu } from './test_device';

const STEP = { position: 0, nTokens: 1 };
const wgsl = `@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var x = i;
  for (var turn = 0u; turn < TURNS; turn++) { x = x * 1664525u + 1013904223u; }
  out[i] = x;
}`;

/** Adds one dispatch of so many turns, and keeps the numbers of the repeats that it was asked for. */
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

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

for (const [clock, without] of [
  ['gpu', []],
  ['cpu', ['timestamps']],
] as const) {
  describe(`on the clock of the ${clock}`, () => {
    test('a short pass is repeated until a round is long enough, or the repeats are as many as allowed', async () => {
      const gpu = await testGpu(without);
      const { add, free } = await work(gpu);
      // One pass of a software GPU on a busy machine may take many milliseconds.
      const timed = await timePass(gpu, STEP, add, { minMs: 60, rounds: 2 });
      expect(timed.clock).toBe(clock);
      expect(timed.repeats).toBeGreaterThan(1);
      expect(timed.ms).toBeGreaterThan(0);
      const capped = await timePass(gpu, STEP, add, { minMs: 1e6, rounds: 1, maxRepeats: 20 });
      expect(capped.repeats).toBe(20);
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

describe('work of the CPU in the pass', () => {
  const SLEEP_MS = 20;
  const runs: number[] = [];
  const add = (list: CommandList, repeat: number) =>
    list.addHost(() => {
      runs.push(repeat);
      return sleep(SLEEP_MS);
    });

  test('is timed by the clock of the CPU', async () => {
    const gpu = await testGpu();
    const { ms, clock } = await timePass(gpu, STEP, add, { minMs: 1, rounds: 1 });
    expect(clock).toBe('cpu');
    expect(ms).toBeGreaterThan(SLEEP_MS - 2); // timers may fire a little early
  });

  test('is run twice where it outlasts the budget: to warm up, and to be timed', async () => {
    const gpu = await testGpu();
    runs.length = 0;
    const { repeats } = await timePass(gpu, STEP, add, { minMs: 1000, rounds: 5, minRepeats: 9, budgetMs: SLEEP_MS });
    expect([repeats, runs]).toEqual([1, [0, 0]]);
  });
});

test('an error of the device is thrown, not timed', async () => {
  const gpu = await testGpu(['immediates']); // its own: the failure stays with the device
  const { add } = await work(gpu);
  gpu.device.createBuffer({ size: 16, usage: 0x0003 }); // MAP_READ and MAP_WRITE exclude each other
  await expect(timePass(gpu, STEP, add, { minMs: 1 })).rejects.toMatchObject({ code: 'gpu-program' });
});
