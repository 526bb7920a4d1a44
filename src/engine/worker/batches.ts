// Fetches the part in which requests step together, when a second one comes.

import { arrived } from '../../shared/part';
import type { AnswerTurns } from './answer_turns';
import type { BatchTurns } from './batch_turns';
import type { Session } from './session';
import type { Turns } from './turns';

export class Batches {
  /** Requests that have begun and not ended. */
  readonly running = new Set<AnswerTurns>();
  private made: BatchTurns | null = null;
  private isAsked = false;

  constructor(
    private readonly session: Session,
    private readonly turns: Turns,
  ) {}

  /** What steps for several requests, if it is there by now. Without it they take turns. */
  get(): BatchTurns | null {
    if (!this.isAsked && this.running.size > 1 && this.session.backend.batch) this.fetch().catch(() => {});
    return this.made;
  }

  private async fetch(): Promise<void> {
    this.isAsked = true;
    const { BatchTurns } = await arrived(import('./batch_turns'));
    this.made = new BatchTurns(this.session, this.turns);
  }
}
