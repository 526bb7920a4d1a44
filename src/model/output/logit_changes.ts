// What changes the logits of a step before its draw: biases and penalties. Made by the first answer of a model that
// asks for them.

import type { Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { createLogitBias } from '../../kernels/sampling/logit_bias';
import { createMaxima } from '../../kernels/sampling/maxima';
import { createPenalties } from '../../kernels/sampling/penalties';
import type { Buffers } from '../buffers';
import { type Bound, bound } from './bound_kernel';

export class LogitChanges {
  private constructor(
    private readonly bias: Bound,
    private readonly penalties: Bound,
    private readonly maxima: Bound,
  ) {}

  /** @throws GpuProgramError */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers): Promise<LogitChanges> {
    const { logits, maxima, sampling, tokens, seen, biases } = buffers;
    const shape = { vocabSize };
    const made = await Promise.all([
      bound(createLogitBias(gpu, shape), logits, biases, sampling),
      bound(createPenalties(gpu, shape), logits, seen, sampling, tokens),
      bound(createMaxima(gpu, shape), logits, maxima),
    ]);
    return new LogitChanges(...made);
  }

  /** Changes the logits and their maxima: biases first. */
  record(list: CommandList, { biases, penalizes }: { biases: boolean; penalizes: boolean }): void {
    if (biases) this.bias(list);
    if (penalizes) this.penalties(list);
    this.maxima(list);
  }
}
