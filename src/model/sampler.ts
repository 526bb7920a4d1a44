// The end of a pass: logits to the next id, on the GPU.

import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import { createMaxima, type Maxima } from '../kernels/sampling/maxima';
import { createRepetitionPenalty, type RepetitionPenalty } from '../kernels/sampling/repetition_penalty';
import { createSample, type Sample } from '../kernels/sampling/sample';
import type { Buffers } from './buffers';

/** What happens to the logits before the draw, the draw, and what is reported after it. */
export type SampleEnd = `${'' | 'penalize_'}sample`;

export class Sampler {
  private constructor(
    private readonly penalty: { kernel: RepetitionPenalty; group: GPUBindGroup },
    private readonly maxima: { kernel: Maxima; group: GPUBindGroup },
    private readonly sample: { kernel: Sample; group: GPUBindGroup },
  ) {}

  /** @param status a buffer whose first word is not 0 after a step that gave up */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers, status: GPUBuffer): Promise<Sampler> {
    const { logits, maxima, sampling, tokens, seen } = buffers;
    const [penalty, maximum, sample] = await Promise.all([
      createRepetitionPenalty(gpu, { vocabSize }),
      createMaxima(gpu, { vocabSize }),
      createSample(gpu, { vocabSize }),
    ]);
    return new Sampler(
      { kernel: penalty, group: penalty.bind(logits, sampling, tokens, seen) },
      { kernel: maximum, group: maximum.bind(logits, maxima) },
      { kernel: sample, group: sample.bind(logits, maxima, sampling, tokens, status) },
    );
  }

  /** Samples from the logits, whose maxima the head has left. A penalty changes both first. */
  record(list: CommandList, end: SampleEnd): void {
    if (end.includes('penalize')) {
      this.penalty.kernel.record(list, this.penalty.group);
      this.maxima.kernel.record(list, this.maxima.group);
    }
    this.sample.kernel.record(list, this.sample.group);
  }
}
