// The end of a pass: logits to the next id, on the GPU.

import type { Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { createSample } from '../../kernels/sampling/sample';
import type { Buffers } from '../buffers';
import { type Bound, bound } from './bound_kernel';
import type { Constrainer } from './constrainer';
import type { LogProbabilities } from './log_probabilities';
import type { LogitChanges } from './logit_changes';

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

export class Sampler {
  /** The tables of constraints. Made by the first constrained answer. */
  constrainer: Constrainer | null = null;
  /** These two are made by the first answer that asks for them. */
  logProbabilities: LogProbabilities | null = null;
  changes: LogitChanges | null = null;

  private constructor(private readonly sample: Bound) {}

  /** @param status a buffer whose first word is not 0 after a step that gave up */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers, status: GPUBuffer): Promise<Sampler> {
    const { logits, maxima, sampling, tokens, logprobParts: parts } = buffers;
    const sample = createSample(gpu, { vocabSize });
    return new Sampler(await bound(sample, logits, maxima, sampling, tokens, status, parts));
  }

  /**
   * Samples from the logits, whose maxima the head has left. A constraint refuses tokens in both. Then biases and
   * penalties change both, in this order. Log probabilities are those of the head's logits without refused tokens.
   */
  record(list: CommandList, end: SampleEnd): void {
    const reported = end.includes('logprobs') ? this.logProbabilities : null;
    const [biases, penalizes] = [end.includes('bias'), end.includes('penalize')];
    const changes = biases || penalizes ? (this.changes as LogitChanges) : null; // made before
    const constrainer = end.startsWith('mask') ? this.constrainer : null;
    constrainer?.recordMask(list);
    if (changes) reported?.copyParts(list);
    changes?.record(list, { biases, penalizes });
    this.sample(list, reported !== null && changes === null);
    reported?.record(list, changes !== null);
    constrainer?.recordAdvance(list);
  }
}
