// Norms of q and k or none, RoPE, and the write to the cache, for stored q, k and v.

import wgsl from '../../../shaders/elementwise/norm_rope.wgsl?raw';
import workgroupSum from '../../../shaders/elementwise/workgroup_sum.wgsl?raw';
import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../../gpu/kernel';
import { arrived } from '../../shared/part';
import { type QkvShape, rotaryConstants, rotaryLibraries } from '../linear/epilogues/qkv';

export interface NormRopeShape extends QkvShape {
  /** RMSNorm of each head (Qwen 3, Gemma 3), or of all heads of q, or of k, as one vector (OLMo 2). */
  norm: 'none' | 'heads' | 'vector';
  normEps: number;
  /** false: no pair is turned. */
  rotary: boolean;
}

const WORKGROUP = 64;

/** Normalizes q and k, rotates them, and writes k and v to the cache, after a linear that stored q, k and v. */
export class NormRope {
  constructor(
    private readonly kernel: Kernel,
    private readonly heads: number,
  ) {}

  /**
   * y: f32 (nTokens, nHeads + 2 nKvHeads, headDim), rotary pairs adjacent; weight: f32 of q, then of k, in the same
   * order: (headDim) each, or for a vector (nHeads, headDim) and (nKvHeads, headDim), or anything without a norm; then
   * the rope table, q, k cache, v cache as in `qkv`.
   */
  bind(y: GPUBuffer, weight: GPUBuffer, rope: GPUBuffer, q: GPUBuffer, k: Bindable, v: Bindable): GPUBindGroup {
    return this.kernel.bind(y, weight, rope, q, k, v);
  }

  record(list: CommandList, group: GPUBindGroup, nTokens: number): void {
    list.add(this.kernel, group, this.heads, nTokens);
  }
}

async function rowLibraries(): Promise<readonly string[]> {
  const { ROW_LIBRARIES } = await arrived(import('./rows_q8'));
  return ROW_LIBRARIES;
}

export async function createNormRope(gpu: Gpu, shape: NormRopeShape): Promise<NormRope> {
  const { kvType } = shape;
  const libraries = kvType === 'q8' ? await rowLibraries() : rotaryLibraries({ kvType });
  const kernel = await createKernel(gpu, {
    label: 'kernels/norm_rope',
    wgsl: [...libraries, workgroupSum, wgsl],
    constants: {
      ...rotaryConstants(shape, shape.rotary),
      NORMED: shape.norm !== 'none',
      VECTOR: shape.norm === 'vector',
      EPS: { f32: shape.normEps },
      WORKGROUP,
    },
    bindings: ['read', 'read', 'read', 'write', 'write', 'write'],
    rows: shape.rows,
  });
  return new NormRope(kernel, shape.nHeads + 2 * shape.nKvHeads);
}
