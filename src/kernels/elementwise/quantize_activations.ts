// Quantizes activations to signed bytes for linears of many tokens.

import wgsl from '../../../shaders/elementwise/quantize_activations.wgsl?raw';
import workgroupSum from '../../../shaders/elementwise/workgroup_sum.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../../gpu/kernel';
import { BLOCK, ZERO_BELOW } from '../linear/weight_format';

export interface QuantizeShape {
  /** A multiple of 32. */
  cols: number;
  /** Epsilon of an RMSNorm that comes first, or null for none. Its weight is the first `cols` floats of params. */
  normEps: number | null;
  /** All tokens of a block side by side, as matmul_q8 reads them, instead of all blocks of a token. Default: false. */
  blocksFirst?: boolean;
}

const MAX_WORKGROUP = 256;

/** Bytes of the rows of `nTokens` in signed bytes, and of their scales: what `xq` must hold. */
export function xqBytes(nTokens: number, cols: number): number {
  const blocks = (nTokens * cols) / BLOCK;
  return Math.ceil((blocks * (BLOCK + 4)) / 16) * 16; // read in units of 16
}

/** Bytes of the rows of `nTokens` in 16 bits, and of a scale each (quantize_wide): what `xq` must hold for them. */
export function wideBytes(nTokens: number, cols: number): number {
  return nTokens * (2 * cols + 4);
}

/** Rows of activations in integers, for matmul_q8 or matmul_matrices. */
export class QuantizeActivations {
  constructor(private readonly kernel: Kernel) {}

  /** `params` is bound in any case, and read for a norm alone. */
  bind(x: GPUBuffer, params: GPUBuffer, xq: GPUBuffer): GPUBindGroup {
    return this.kernel.bind(x, params, xq);
  }

  record(list: CommandList, group: GPUBindGroup, nTokens: number): void {
    list.add(this.kernel, group, nTokens);
  }
}

export async function createQuantizeActivations(gpu: Gpu, shape: QuantizeShape): Promise<QuantizeActivations> {
  const { cols, normEps, blocksFirst = false } = shape;
  const kernel = await createKernel(gpu, {
    label: 'kernels/quantize_activations',
    wgsl: [workgroupSum, wgsl],
    constants: {
      COLS: cols,
      NORM: normEps !== null,
      BLOCKS_FIRST: blocksFirst,
      EPS: { f32: normEps ?? 0 },
      ZERO_BELOW: { f32: ZERO_BELOW },
      WORKGROUP: Math.min(MAX_WORKGROUP, 2 ** Math.ceil(Math.log2(cols / 4))),
    },
    bindings: ['read', 'read', 'write'],
  });
  return new QuantizeActivations(kernel);
}
