// The second half of log softmax: the log probabilities of the token drawn and of the likeliest tokens.

import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import wgsl from '../../../shaders/sampling/logprobs.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface Logprobs {
  /**
   * The logits and maxima of the head or copies of them, the parts of these logits (partsBytes), sampling
   * (SAMPLING_BYTES, see packSampling), tokens, ring (LOGPROBS_BYTES).
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

interface LogprobsShape {
  vocabSize: number;
  /** Entries of the ring. */
  ring: number;
  /** Most of the likeliest tokens in an entry. */
  most: number;
}

/** Writes the entry of tokens[position + nTokens] to the ring, at that position modulo its size. */
export async function createLogprobs(gpu: Gpu, { vocabSize, ring, most }: LogprobsShape): Promise<Logprobs> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/logprobs',
    wgsl: [logitKey, sampling, wgsl],
    constants: { VOCAB_SIZE: vocabSize, RING: ring, MOST: most },
    bindings: ['read', 'read', 'read', 'uniform', 'read', 'write'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
  };
}
