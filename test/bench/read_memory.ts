import wgsl from '../../shaders/bench/read_memory.wgsl?raw';
import { GpuMemoryError } from '../../src/errors';
import { GPU_STORAGE, type Gpu } from '../../src/gpu/device';
import { createKernel } from '../../src/gpu/kernel';
import { timePass } from '../../src/gpu/time_pass';
import { randomBuffers } from './random_buffers';
import type { RooflinePoint } from './report';

/** What no sum of the buffer is likely to be. */
const SENTINEL = 0xdeadbeef;
const MAX_BYTES = 2 ** 31;
const QUICK_BYTES = 2 ** 22;
/** Workgroup and loads: the largest span of a workgroup divides the buffer. */
const CANDIDATES: readonly (readonly [workgroup: number, loads: number])[] = [
  [128, 8],
  [256, 1],
  [256, 4],
  [256, 8],
  [512, 4],
  [1024, 4],
];
const LARGEST_SPAN_BYTES = 1024 * 8 * 16;
const GRIDS = [1056, 4224, 16896];
/** For one point. */
const BUDGET_MS = 300;

/** GB/s of reading one large buffer, by workgroup size, loads in flight and grid. */
export async function readMemory(gpu: Gpu, quick: boolean): Promise<{ bytes: number; points: RooflinePoint[] }> {
  const grids = quick ? [64] : GRIDS;
  const x = await largestBuffer(gpu, quick ? QUICK_BYTES : Math.min(MAX_BYTES, gpu.bindingLimit));
  const bytes = x.size;
  const out = gpu.createBuffer('bench.read_memory.out', Math.max(...grids) * 4, GPU_STORAGE);
  const points: RooflinePoint[] = [];
  try {
    for (const [workgroup, loads] of CANDIDATES) {
      if (workgroup > gpu.limits.maxComputeInvocationsPerWorkgroup) continue;
      const kernel = await createKernel(gpu, {
        label: 'bench/read_memory',
        wgsl: [wgsl],
        constants: { WORKGROUP: workgroup, LOADS: loads, SENTINEL },
        bindings: ['read', 'write'],
      });
      const group = kernel.bind(x, out);
      for (const grid of grids) {
        const { ms } = await timePass(gpu, { position: 0, nTokens: 1 }, (list) => list.add(kernel, group, grid), {
          minMs: quick ? 1 : 10,
          rounds: quick ? 1 : 5,
          budgetMs: BUDGET_MS,
        });
        points.push({ workgroup, work: loads, grid, value: bytes / ms / 1e6 });
      }
    }
    return { bytes, points };
  } finally {
    gpu.destroyBuffer(x);
    gpu.destroyBuffer(out);
  }
}

/** Of `most` bytes, or of the largest half, quarter and so on that the GPU has memory for. */
async function largestBuffer(gpu: Gpu, most: number): Promise<GPUBuffer> {
  const bytes = Math.floor(most / LARGEST_SPAN_BYTES) * LARGEST_SPAN_BYTES;
  try {
    const [buffer] = await randomBuffers(gpu, 'bench.read_memory', [bytes], 'f32');
    return buffer;
  } catch (error) {
    if (!(error instanceof GpuMemoryError) || bytes / 2 < QUICK_BYTES) throw error;
    return largestBuffer(gpu, bytes / 2);
  }
}
