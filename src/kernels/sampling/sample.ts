// Draws the next token from the logits.

import candidates from '../../../shaders/sampling/candidates.wgsl?raw';
import draw from '../../../shaders/sampling/draw.wgsl?raw';
import gumbel from '../../../shaders/sampling/gumbel.wgsl?raw';
import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import wgsl from '../../../shaders/sampling/sample.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import thresholds from '../../../shaders/sampling/thresholds.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface Sample {
  /**
   * logits (logitsBytes), maxima of these logits (maximaBytes), sampling (SAMPLING_BYTES, see packSampling), tokens,
   * and a buffer whose first word is not 0 after a step that gave up.
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Writes the next token to tokens[position + nTokens]. */
export async function createSample(gpu: Gpu, shape: { vocabSize: number }): Promise<Sample> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/sample',
    wgsl: [sampling, gumbel, logitKey, candidates, thresholds, draw, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['read', 'read', 'uniform', 'write', 'read'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
  };
}
