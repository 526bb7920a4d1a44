// Adds biases to logits, and forbids tokens.

import wgsl from '../../../shaders/sampling/logit_bias.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface LogitBias {
  /** logits, sampling (SAMPLING_BYTES, see packSampling), biases (BIASES_BYTES, see packBiases). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Changes, in place, the logits of the tokens that have a bias. */
export async function createLogitBias(gpu: Gpu, shape: { vocabSize: number }): Promise<LogitBias> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/logit_bias',
    wgsl: [sampling, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['write', 'uniform', 'read'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
  };
}
