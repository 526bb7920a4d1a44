// Fetches the part in which requests step together, when a second one comes.

import { arrived } from '../../../shared/part';
import type { Session } from '../request/session';
import type { AnswerBeside, BatchDoor, StepsBeside } from '../turns/beside';
import type { Turns } from '../turns/turns';

export class Batches implements BatchDoor {
  readonly running = new Set<AnswerBeside>();
  private made: StepsBeside | null = null;
  private isAsked = false;

  constructor(
    private readonly session: Session,
    private readonly turns: Turns,
    private readonly now = () => performance.now(),
  ) {}

  /** What steps for several requests, if it is there by now. Without it they take turns. */
  get(): StepsBeside | null {
    if (!this.isAsked && this.running.size > 1 && this.session.backend.batch) this.fetch().catch(() => {});
    return this.made;
  }

  private async fetch(): Promise<void> {
    this.isAsked = true;
    const { BatchTurns } = await arrived(import('./batch_turns'));
    this.made = new BatchTurns(this.session, this.turns, this.now);
  }
}
