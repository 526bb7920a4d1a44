// Quantizes activations to 16 bits for linears of many tokens on subgroup matrices.

import wgsl from '../../../shaders/elementwise/quantize_wide.wgsl?raw';
import workgroupSum from '../../../shaders/elementwise/workgroup_sum.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { createKernel } from '../../gpu/kernel';
import { ZERO_BELOW } from '../linear/weight_format';
import { QuantizeActivations, type QuantizeShape } from './quantize_activations';

const WORKGROUP = 256;

/** Rows of activations in 16 bits, for matmul_matrices. */
export async function createQuantizeWide(gpu: Gpu, { cols, normEps }: QuantizeShape): Promise<QuantizeActivations> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/quantize_wide',
    wgsl: [workgroupSum, wgsl],
    constants: {
      COLS: cols,
      NORM: normEps !== null,
      EPS: { f32: normEps ?? 0 },
      ZERO_BELOW: { f32: ZERO_BELOW },
      WORKGROUP,
    },
    bindings: ['read', 'read', 'write'],
  });
  return new QuantizeActivations(kernel);
}
