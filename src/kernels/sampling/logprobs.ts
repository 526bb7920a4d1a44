// The second half of log softmax: the log probabilities of the token drawn and of the likeliest tokens.

import askedWgsl from '../../../shaders/sampling/asked.wgsl?raw';
import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import wgsl from '../../../shaders/sampling/logprobs.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';
import type { AskedRows } from './sample';

export interface Logprobs {
  /**
   * The logits and maxima of the head or copies of them, sampling (SAMPLING_BYTES, see packSampling), tokens, the parts
   * of these logits (partsBytes), ring (LOGPROBS_BYTES).
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
  /** Reports those of the rows of a batch. */
  recordRows(list: CommandList, group: GPUBindGroup, rows: number): void;
}

interface LogprobsShape {
  vocabSize: number;
  /** Entries of the ring. */
  ring: number;
  /** Most of the likeliest tokens in an entry. */
  most: number;
}

/** Requests reported together, with an entry of each step for each of so many slots. */
export interface LogprobRows extends AskedRows {
  slots: number;
}

/**
 * Writes the entry of tokens[position + nTokens] to the ring, at that position modulo its size.
 * @param batch logits, maxima and parts have a row for each request; a step of the ring has an entry for each slot
 */
export async function createLogprobs(
  gpu: Gpu,
  { vocabSize, ring, most }: LogprobsShape,
  batch?: LogprobRows,
): Promise<Logprobs> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/logprobs',
    wgsl: [logitKey, sampling, batch?.asked ?? askedWgsl, wgsl],
    constants: { VOCAB_SIZE: vocabSize, RING: ring, ENTRIES: batch?.slots ?? 1, MOST: most },
    bindings: ['read', 'read', batch ? 'read' : 'uniform', 'read', 'read', 'write'],
    rows: batch?.rows,
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
    recordRows: (list, group, rows) => list.add(kernel, group, 1, rows),
  };
}
