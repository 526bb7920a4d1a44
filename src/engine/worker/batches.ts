// Whether requests step together. Fetches the part that does it when a second request comes, and does without it where
// it cannot be had.

import type { SamplingParams } from '../../sampling/sampling';
import { arrived } from '../../shared/part';
import type { BatchTurns } from './batch_turns';
import type { Session } from './session';
import type { Turns } from './turns';

export class Batches {
  /** Running requests that could step together. */
  candidates = 0;
  private made: BatchTurns | null = null;
  private isAsked = false;

  constructor(
    private readonly session: Session,
    private readonly turns: Turns,
  ) {}

  /** The batch, if it is there by now. Asks for it the first time. */
  get(): BatchTurns | null {
    if (!this.isAsked && this.session.backend.batch) void this.fetch();
    return this.made;
  }

  private async fetch(): Promise<void> {
    this.isAsked = true;
    try {
      const { BatchTurns } = await arrived(import('./batch_turns'));
      this.made = new BatchTurns(this.session, this.turns);
    } catch {
      // Requests take turns as without it.
    }
  }
}

/** True if all that the sampler does is what a batch can do: the draw, without anything that changes the logits. */
export function samplesPlainly(sampling: SamplingParams): boolean {
  const { repetitionPenalty, presencePenalty, frequencyPenalty, biases, logprobs } = sampling;
  const isPenalized = repetitionPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0;
  return !isPenalized && biases.length === 0 && logprobs === null;
}
