// Quantizes rows of f32, f16 or bf16 to q8 or q4 on the GPU, bit for bit as the reference does. A part that comes with
// the first matrix that a load quantizes.

import chunkRows from '../../../shaders/load/chunk_rows.wgsl?raw';
import wgsl from '../../../shaders/load/quantize_weights.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { createKernel, type Kernel } from '../../gpu/kernel';
import type { PlainFormat, QuantizedFormat } from './file_types';

/** `blocks`: of 32 values, a row. Binds the chunk, its bytes, weights, scales, as repack does. */
export function createQuantizeWeights(
  gpu: Gpu,
  from: PlainFormat,
  to: QuantizedFormat,
  blocks: number,
): Promise<Kernel> {
  return createKernel(gpu, {
    label: 'kernels/quantize_weights',
    wgsl: [chunkRows, wgsl],
    constants: { BLOCKS: blocks, FROM_F32: from === 'f32', FROM_BF16: from === 'bf16', TO_Q4: to === 'q4' },
    bindings: ['uniform', 'read', 'write', 'write'],
  });
}
