// Penalizes the logits of tokens that occurred.

import wgsl from '../../../shaders/sampling/penalties.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface Penalties {
  /** logits, sampling (SAMPLING_BYTES, see packSampling), tokens, seen (seenBytes, zeros). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Bytes of the scratch buffer `seen`: a word for each id. Each dispatch leaves it zero. */
export function seenBytes(vocabSize: number): number {
  return 4 * vocabSize;
}

/** Penalizes, in place, the logits of all tokens before position + nTokens. */
export async function createPenalties(gpu: Gpu, shape: { vocabSize: number }): Promise<Penalties> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/penalties',
    wgsl: [sampling, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['write', 'uniform', 'read', 'write'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
  };
}
