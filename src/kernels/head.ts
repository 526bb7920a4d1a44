import wgsl from '../../shaders/kernels/head.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { createLinear, type Linear, type LinearShape } from './linear';

/** `rows` is the vocabulary. Binds weights, scales, x, params, logits. */
export function createHead(gpu: Gpu, shape: LinearShape): Promise<Linear> {
  return createLinear(gpu, shape, { label: 'kernels/head', wgsl: [wgsl], bindings: ['write'] }, true);
}
