// The f32 roofline of a GPU: chains of fused multiply-adds in registers.

import wgsl from '../../../shaders/bench/fma.wgsl?raw';
import { GPU_STORAGE, type Gpu } from '../../../src/gpu/device';
import { createKernel } from '../../../src/gpu/kernel';
import { timePass } from '../../../src/gpu/time_pass';
import type { RooflinePoint } from '../../report';

/** A value that no chain reaches: the factor and the term below keep every float at 2 and under. */
const SENTINEL = { f32: 123456 };
const LINK = Float32Array.of(0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1);
/** Chains, floats of each, links a turn, operations of a link. */
const OPERATIONS_A_TURN = 8 * 4 * 4 * 2;
const WORKGROUPS = [64, 128, 256];
/** Ascending: a slow adapter never gets to the larger ones, which it does not need. */
const GRIDS = [264, 1056, 4224, 16896];
const QUICK_GRIDS = [64];
/** After a pass that took longer, the next larger grid would only take longer still. */
const LONG_MS = 100;
/** The time for one point. */
const BUDGET_MS = 300;

/** TFLOP/s of fused multiply-adds in registers, by workgroup size and grid. */
export async function fma(gpu: Gpu, quick: boolean): Promise<RooflinePoint[]> {
  const link = gpu.upload('bench.fma.link', LINK);
  const out = gpu.createBuffer('bench.fma.out', Math.max(...WORKGROUPS) * 16, GPU_STORAGE);
  const turns = quick ? 64 : 512;
  const points: RooflinePoint[] = [];
  try {
    for (const workgroup of WORKGROUPS) {
      const kernel = await createKernel(gpu, {
        label: 'bench/fma',
        wgsl: [wgsl],
        constants: { WORKGROUP: workgroup, TURNS: turns, SENTINEL },
        bindings: ['read', 'write'],
      });
      const group = kernel.bind(link, out);
      for (const grid of quick ? QUICK_GRIDS : GRIDS) {
        const { ms } = await timePass(gpu, { position: 0, nTokens: 1 }, (list) => list.add(kernel, group, grid), {
          minMs: quick ? 1 : 10,
          rounds: quick ? 1 : 5,
          budgetMs: BUDGET_MS,
        });
        const operations = grid * workgroup * turns * OPERATIONS_A_TURN;
        points.push({ workgroup, work: turns, grid, value: operations / ms / 1e9 });
        if (ms > LONG_MS) break;
      }
    }
    return points;
  } finally {
    gpu.destroyBuffer(link);
    gpu.destroyBuffer(out);
  }
}
