// Asks the leading tab for signs of life while something waits for it, and tells when none come.

import type { TabPlace } from './place';

const BEAT_MS = 1000;
/** Beats without an answer after which the leading tab is passed over. Beats, not time: a machine may sleep. */
const SILENT_BEATS = 10;

export class LeaderWatch {
  private silent = 0;
  private stop: (() => void) | null = null;

  /**
   * @param ask asks for a sign of life. Returns false where nothing waits for one.
   * @param onSilent runs when the leading tab has not answered for long
   */
  constructor(
    private readonly place: Pick<TabPlace, 'every'>,
    private readonly ask: () => boolean,
    private readonly onSilent: () => void,
  ) {}

  begin(): void {
    if (this.stop) return;
    this.silent = 0;
    this.stop = this.place.every(BEAT_MS, () => this.beat());
  }

  /** The leading tab lives. */
  heard(): void {
    this.silent = 0;
  }

  end(): void {
    this.stop?.();
    this.stop = null;
  }

  private beat(): void {
    if (!this.ask()) this.end();
    else if (++this.silent > SILENT_BEATS) {
      this.silent = 0;
      this.onSilent();
    }
  }
}
