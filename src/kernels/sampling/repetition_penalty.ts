// Penalizes the logits of tokens that occurred.

import wgsl from '../../../shaders/sampling/repetition_penalty.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface RepetitionPenalty {
  /** logits, sampling (SAMPLING_BYTES, see packSampling), tokens, seen (seenBytes). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Bytes of the scratch buffer `seen`: one bit for each id. */
export function seenBytes(vocabSize: number): number {
  return Math.ceil(vocabSize / 32) * 4;
}

/** Penalizes, in place, the logits of all tokens before position + nTokens. */
export async function createRepetitionPenalty(gpu: Gpu, shape: { vocabSize: number }): Promise<RepetitionPenalty> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/repetition_penalty',
    wgsl: [sampling, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['write', 'uniform', 'read', 'write'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
  };
}
