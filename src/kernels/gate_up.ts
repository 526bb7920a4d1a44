import wgsl from '../../shaders/kernels/gate_up.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { createLinear, type Linear, type LinearShape } from './linear';

/** `rows` is twice the intermediate size. Binds weights, scales, x, params, h. */
export function createGateUp(gpu: Gpu, shape: LinearShape): Promise<Linear> {
  return createLinear(gpu, shape, { label: 'kernels/gate_up', wgsl: [wgsl], bindings: ['write'] });
}
