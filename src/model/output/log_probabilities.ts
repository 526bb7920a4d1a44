// What a step needs on the GPU to report log probabilities. Made by the first answer of a model that asks for them.

import type { Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { createLogprobParts, type LogprobParts } from '../../kernels/sampling/logprob_parts';
import { createLogprobs, type LogprobRows, type Logprobs } from '../../kernels/sampling/logprobs';
import { LOGPROBS_RING, MAX_LOGPROBS } from '../../sampling/logprobs';
import type { Buffers } from '../buffers';
import { type Bound, bound } from './bound_kernel';

/** Both halves of log softmax, also for a batch. */
export function createLogprobKernels(
  gpu: Gpu,
  vocabSize: number,
  batch?: LogprobRows,
): { half: Promise<LogprobParts>; whole: Promise<Logprobs> } {
  return {
    half: createLogprobParts(gpu, { vocabSize }),
    whole: createLogprobs(gpu, { vocabSize, ring: LOGPROBS_RING, most: MAX_LOGPROBS }, batch),
  };
}

export class LogProbabilities {
  private constructor(
    /** Where the logits change: copies before. */
    readonly copyParts: Bound,
    private readonly ofLogits: Bound,
    private readonly ofCopies: Bound,
  ) {}

  /** @throws GpuProgramError */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers): Promise<LogProbabilities> {
    const { logits, maxima, sampling, tokens, rawLogits, rawMaxima, logprobParts: parts, logprobs: ring } = buffers;
    const { half, whole } = createLogprobKernels(gpu, vocabSize);
    const made = await Promise.all([
      bound(half, logits, maxima, rawLogits, rawMaxima, parts),
      bound(whole, logits, maxima, sampling, tokens, parts, ring),
      bound(whole, rawLogits, rawMaxima, sampling, tokens, parts, ring),
    ]);
    return new LogProbabilities(...made);
  }

  /** Reports those of the head's logits. @param changed the logits are others by now, and `copyParts` has kept them */
  record(list: CommandList, changed: boolean): void {
    if (changed) this.ofCopies(list);
    else this.ofLogits(list);
  }
}
