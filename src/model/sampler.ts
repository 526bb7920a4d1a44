// The end of a pass: logits to the next id, on the GPU.

import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import { createLogitBias } from '../kernels/sampling/logit_bias';
import { createLogprobParts } from '../kernels/sampling/logprob_parts';
import { createLogprobs } from '../kernels/sampling/logprobs';
import { createMaxima } from '../kernels/sampling/maxima';
import { createPenalties } from '../kernels/sampling/penalties';
import { createSample } from '../kernels/sampling/sample';
import { LOGPROBS_RING, MAX_LOGPROBS } from '../sampling/logprobs';
import type { Buffers } from './buffers';
import type { Constrainer } from './constrainer';

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

/** All kernels of the end of a pass without a constraint. */
export const WHOLE_END: SampleEnd = 'bias_penalize_sample_logprobs';

/** A kernel with its buffers. */
type Bound = (list: CommandList, parts?: boolean) => void;

interface Unbound {
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup, parts?: boolean): void;
}

async function bound(kernel: Promise<Unbound>, ...buffers: readonly GPUBuffer[]): Promise<Bound> {
  const made = await kernel;
  const group = made.bind(...buffers);
  return (list, parts) => made.record(list, group, parts);
}

export class Sampler {
  /** Of constrained answers, from the first one on. */
  constrainer: Constrainer | null = null;

  private constructor(
    private readonly bias: Bound,
    private readonly penalties: Bound,
    private readonly maxima: Bound,
    private readonly sample: Bound,
    private readonly logprobs: Bound,
    /** The same where the logits change: copies before, and from the copies after. */
    private readonly copyParts: Bound,
    private readonly logprobsOfCopies: Bound,
  ) {}

  /** @param status a buffer whose first word is not 0 after a step that gave up */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers, status: GPUBuffer): Promise<Sampler> {
    const { logits, maxima, sampling, tokens, seen, biases, rawLogits, rawMaxima } = buffers;
    const { logprobParts: parts, logprobs: ring } = buffers;
    const shape = { vocabSize };
    const logprobs = createLogprobs(gpu, { vocabSize, ring: LOGPROBS_RING, most: MAX_LOGPROBS });
    return new Sampler(
      ...(await Promise.all([
        bound(createLogitBias(gpu, shape), logits, sampling, biases),
        bound(createPenalties(gpu, shape), logits, sampling, tokens, seen),
        bound(createMaxima(gpu, shape), logits, maxima),
        bound(createSample(gpu, shape), logits, maxima, sampling, tokens, status, parts),
        bound(logprobs, logits, maxima, parts, sampling, tokens, ring),
        bound(createLogprobParts(gpu, shape), logits, maxima, rawLogits, rawMaxima, parts),
        bound(logprobs, rawLogits, rawMaxima, parts, sampling, tokens, ring),
      ])),
    );
  }

  /**
   * Samples from the logits, whose maxima the head has left. A constraint refuses tokens in both. Then biases and
   * penalties change both, in this order. Log probabilities are those of the head's logits without refused tokens.
   */
  record(list: CommandList, end: SampleEnd): void {
    const reports = end.includes('logprobs');
    const biases = end.includes('bias');
    const penalizes = end.includes('penalize');
    const changes = biases || penalizes;
    const constrainer = end.startsWith('mask') ? this.constrainer : null;
    constrainer?.recordMask(list);
    if (reports && changes) this.copyParts(list);
    if (biases) this.bias(list);
    if (penalizes) this.penalties(list);
    if (changes) this.maxima(list);
    this.sample(list, reports && !changes);
    if (reports && !changes) this.logprobs(list);
    if (reports && changes) this.logprobsOfCopies(list);
    constrainer?.recordAdvance(list);
  }
}
