// Adds a normalized product to the residual stream.

import wgsl from '../../../shaders/elementwise/post_norm.wgsl?raw';
import workgroupSum from '../../../shaders/elementwise/workgroup_sum.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../../gpu/kernel';

export interface PostNormShape {
  /** A multiple of 4. */
  cols: number;
  normEps: number;
  /** Factor of the normalized product. */
  scale: number;
}

const MAX_WORKGROUP = 256;

/** x += scale * RMSNorm(y): what attention or the MLP adds, where that is normalized first. */
export class PostNorm {
  constructor(private readonly kernel: Kernel) {}

  /** y, x: f32 (nTokens, cols); weight: f32 (cols). */
  bind(y: GPUBuffer, weight: GPUBuffer, x: GPUBuffer): GPUBindGroup {
    return this.kernel.bind(y, weight, x);
  }

  record(list: CommandList, group: GPUBindGroup, nTokens: number): void {
    list.add(this.kernel, group, nTokens);
  }
}

export async function createPostNorm(gpu: Gpu, { cols, normEps, scale }: PostNormShape): Promise<PostNorm> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/post_norm',
    wgsl: [workgroupSum, wgsl],
    constants: {
      COLS: cols,
      EPS: { f32: normEps },
      SCALE: { f32: scale },
      WORKGROUP: Math.min(MAX_WORKGROUP, 2 ** Math.ceil(Math.log2(cols / 4))),
    },
    bindings: ['read', 'read', 'write'],
  });
  return new PostNorm(kernel);
}
