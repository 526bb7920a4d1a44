// Steps that gave up: a fused step whose bounded waits ran out brings GAVE_UP instead of an id, and so do all steps
// queued behind it. They are dropped, and the first of them runs again.

import { GpuProgramError } from '../../../errors';
import type { Backend } from '../../backend/backend';
import type { IdsInFlight } from './ids_in_flight';

/** Most repetitions of the step at one position. */
const MOST_REPEATS = 3;

export class GiveUps {
  private position = -1;
  private repeats = 0;

  constructor(
    private readonly backend: Backend,
    private readonly inFlight: IdsInFlight,
  ) {}

  /**
   * Drops all steps in flight and makes the one that gave up the next to be queued; the prompt's own pass repeats as a
   * step of its last token. Returns a warning for the user, if any.
   * @throws GpuProgramError for a step that cannot be repeated or gives up each time; the failure of a step in flight
   */
  async repeat(): Promise<string | null> {
    const { backend, inFlight } = this;
    const { position, warning } = await this.settle();
    inFlight.rewind();
    this.repeats = position === this.position ? this.repeats + 1 : 1;
    this.position = position ?? -1;
    if (!backend.stepGaveUp || this.position < inFlight.start || this.repeats > MOST_REPEATS) {
      const times = this.repeats === 1 ? 'once' : `${this.repeats} times in a row`;
      throw new GpuProgramError(
        'The decode step',
        `It gave up ${times} at position ${this.position}. Load the model with step "plain".`,
      );
    }
    return warning;
  }

  /** Waits for all steps in flight and clears what one that gave up left on the GPU. */
  async settle(): Promise<{ position: number | null; warning: string | null }> {
    const position = await this.inFlight.settle();
    return { position, warning: (position !== null && this.backend.stepGaveUp?.(position)) || null };
  }
}
