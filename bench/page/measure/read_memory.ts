// The memory roofline of a GPU: reads of one large buffer.

import { GpuMemoryError } from '../../../src/errors';
import { GPU_STORAGE, type Gpu } from '../../../src/gpu/device';
import { READ_OUT_BYTES, READ_SPAN_BYTES, readSpeed } from '../../../src/tune/read_memory';
import type { RooflinePoint } from '../../report';
import { randomBuffers } from '../synthetic/random_buffers';

const MAX_BYTES = 2 ** 31;
const QUICK_BYTES = 2 ** 22;
const CANDIDATES: readonly (readonly [workgroup: number, loads: number])[] = [
  [128, 8],
  [256, 1],
  [256, 4],
  [256, 8],
  [512, 4],
  [1024, 4],
];
const GRIDS = [1056, 4224, 16896];
/** The time for one point. */
const BUDGET_MS = 300;

/** GB/s of reading one large buffer, by workgroup size, loads in flight and grid. */
export async function readMemory(gpu: Gpu, quick: boolean): Promise<{ bytes: number; points: RooflinePoint[] }> {
  const grids = quick ? [64] : GRIDS;
  const x = await largestBuffer(gpu, quick ? QUICK_BYTES : Math.min(MAX_BYTES, gpu.bindingLimit));
  const bytes = x.size;
  const out = gpu.createBuffer('bench.read_memory.out', READ_OUT_BYTES, GPU_STORAGE);
  const times = { minMs: quick ? 1 : 10, rounds: quick ? 1 : 5, budgetMs: BUDGET_MS };
  const points: RooflinePoint[] = [];
  try {
    for (const [workgroup, loads] of CANDIDATES) {
      for (const grid of grids) {
        const value = await readSpeed(gpu, x, out, { workgroup, loads, grid }, times);
        if (value !== null) points.push({ workgroup, work: loads, grid, value });
      }
    }
    return { bytes, points };
  } finally {
    gpu.destroyBuffer(x);
    gpu.destroyBuffer(out);
  }
}

/** A buffer of `most` bytes, or of the largest half, quarter and so on that the GPU has memory for. */
async function largestBuffer(gpu: Gpu, most: number): Promise<GPUBuffer> {
  const bytes = Math.floor(most / READ_SPAN_BYTES) * READ_SPAN_BYTES;
  try {
    const [buffer] = await randomBuffers(gpu, 'bench.read_memory', [bytes], 'f32');
    return buffer;
  } catch (error) {
    if (!(error instanceof GpuMemoryError) || bytes / 2 < QUICK_BYTES) throw error;
    return largestBuffer(gpu, bytes / 2);
  }
}
