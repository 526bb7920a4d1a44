import wgsl from '../../shaders/kernels/residual.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { createLinear, type Linear, type LinearShape } from './linear';

/** Binds weights, scales, x, params, residual. */
export function createResidual(gpu: Gpu, shape: LinearShape): Promise<Linear> {
  return createLinear(gpu, shape, { label: 'kernels/residual', wgsl: [wgsl], bindings: ['write'] });
}
