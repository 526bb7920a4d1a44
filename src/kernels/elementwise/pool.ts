// The vector of a text from those of its tokens, after the final norm.

import pool from '../../../shaders/elementwise/pool.wgsl?raw';
import workgroupSum from '../../../shaders/elementwise/workgroup_sum.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../../gpu/kernel';

export interface PoolShape {
  /** A multiple of 4. */
  cols: number;
  normEps: number;
  /** `last`: the last token's vector. `mean`: the sum over all tokens, to be divided by their number. */
  pooling: 'last' | 'mean';
}

const MAX_WORKGROUP = 256;

/** Normalizes rows of the residual stream in place and adds them up, over all passes since position 0. */
export class Pool {
  constructor(
    private readonly normRows: Kernel,
    private readonly addRows: Kernel,
    private readonly groups: number,
    private readonly isMean: boolean,
  ) {}

  /** x: f32 (nTokens, cols); weight, out: f32 (cols). */
  bind(x: GPUBuffer, weight: GPUBuffer, out: GPUBuffer): GPUBindGroup {
    return this.normRows.bind(x, weight, out);
  }

  record(list: CommandList, group: GPUBindGroup, nTokens: number): void {
    list.add(this.normRows, group, this.isMean ? nTokens : 1);
    list.add(this.addRows, group, this.groups);
  }
}

export async function createPool(gpu: Gpu, { cols, normEps, pooling }: PoolShape): Promise<Pool> {
  const isMean = pooling === 'mean';
  const workgroup = Math.min(MAX_WORKGROUP, 2 ** Math.ceil(Math.log2(cols / 4)));
  const kernel = (entryPoint: string) =>
    createKernel(gpu, {
      label: `kernels/pool.${entryPoint}`,
      wgsl: [workgroupSum, pool],
      constants: { COLS: cols, EPS: { f32: normEps }, MEAN: isMean, WORKGROUP: workgroup },
      bindings: ['write', 'read', 'write'],
      entryPoint,
    });
  const [normRows, addRows] = await Promise.all([kernel('norm_rows'), kernel('add_rows')]);
  return new Pool(normRows, addRows, Math.ceil(cols / 4 / workgroup), isMean);
}
