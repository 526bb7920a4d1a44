// This tab's place in the queue for the lead, and the lead itself once it has it.

import type { TabPlace } from './place';

export class LeadQueue {
  /** Gives the lead, or the place in the queue, back. */
  private giveBack = () => {};

  /**
   * @param onLead runs when this tab has the lead
   * @param onTaken runs when another tab has taken it away
   */
  constructor(
    private readonly place: Pick<TabPlace, 'queue'>,
    private readonly onLead: () => void,
    private readonly onTaken: () => void,
  ) {}

  enter(): void {
    this.giveBack = this.ask(false);
  }

  /** Takes the lead from whoever has it. Until then the place in the queue stays. */
  steal(): void {
    this.ask(true);
  }

  leave(): void {
    this.giveBack();
  }

  private ask(steals: boolean): () => void {
    const giveBack = this.place.queue(
      steals,
      () => {
        if (steals) this.giveBack();
        this.giveBack = giveBack;
        this.onLead();
      },
      () => {
        if (this.giveBack === giveBack) this.onTaken();
      },
    );
    return giveBack;
  }
}
