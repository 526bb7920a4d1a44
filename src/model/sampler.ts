// The end of a pass: logits to the next id, on the GPU.

import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import { createLogitBias } from '../kernels/sampling/logit_bias';
import { createMaxima } from '../kernels/sampling/maxima';
import { createPenalties } from '../kernels/sampling/penalties';
import { createSample } from '../kernels/sampling/sample';
import { type Bound, bound } from './bound_kernel';
import type { Buffers } from './buffers';
import type { Constrainer } from './constrainer';
import type { LogProbabilities } from './log_probabilities';

/** The draw, what changes the logits before it, and what is reported after it. */
export type SampleEnd = `${'' | 'mask_'}${'' | 'bias_'}${'' | 'penalize_'}sample${'' | '_logprobs'}`;

interface EndParts {
  masks: boolean;
  biases: boolean;
  penalizes: boolean;
  reports: boolean;
}

export function sampleEnd({ masks, biases, penalizes, reports }: EndParts): SampleEnd {
  const before = `${masks ? 'mask_' : ''}${biases ? 'bias_' : ''}${penalizes ? 'penalize_' : ''}` as const;
  return `${before}sample${reports ? '_logprobs' : ''}`;
}

/** All kernels that every model has for the end of a pass. */
export const WHOLE_END: SampleEnd = 'bias_penalize_sample';

export class Sampler {
  /** The tables of constraints. Made by the first constrained answer. */
  constrainer: Constrainer | null = null;
  /** Made by the first answer that asks for them. */
  logProbabilities: LogProbabilities | null = null;

  private constructor(
    private readonly bias: Bound,
    private readonly penalties: Bound,
    private readonly maxima: Bound,
    private readonly sample: Bound,
  ) {}

  /** @param status a buffer whose first word is not 0 after a step that gave up */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers, status: GPUBuffer): Promise<Sampler> {
    const { logits, maxima, sampling, tokens, seen, biases, logprobParts: parts } = buffers;
    const shape = { vocabSize };
    return new Sampler(
      ...(await Promise.all([
        bound(createLogitBias(gpu, shape), logits, biases, sampling),
        bound(createPenalties(gpu, shape), logits, seen, sampling, tokens),
        bound(createMaxima(gpu, shape), logits, maxima),
        bound(createSample(gpu, shape), logits, maxima, sampling, tokens, status, parts),
      ])),
    );
  }

  /**
   * Samples from the logits, whose maxima the head has left. A constraint refuses tokens in both. Then biases and
   * penalties change both, in this order. Log probabilities are those of the head's logits without refused tokens.
   */
  record(list: CommandList, end: SampleEnd): void {
    const reported = end.includes('logprobs') ? this.logProbabilities : null;
    const biases = end.includes('bias');
    const penalizes = end.includes('penalize');
    const changes = biases || penalizes;
    const constrainer = end.startsWith('mask') ? this.constrainer : null;
    constrainer?.recordMask(list);
    if (changes) reported?.copyParts(list);
    if (biases) this.bias(list);
    if (penalizes) this.penalties(list);
    if (changes) this.maxima(list);
    this.sample(list, reported !== null && !changes);
    reported?.record(list, changes);
    constrainer?.recordAdvance(list);
  }
}
