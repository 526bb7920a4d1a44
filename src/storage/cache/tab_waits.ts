// The waits of one load for other tabs: told while they last, bounded, and ended together.

/** Time between two reports, and before the first. A lock that is free comes sooner. */
const REPORT_MS = 250;

/** Receives the milliseconds of the longest present wait, and undefined when all are over. */
export type OnWait = (ms: number | undefined) => void;

export class TabWaits {
  /** True once this load waits no more: a wait ran out, or the person chose so. */
  isAlone = false;
  private readonly waiting = new Map<() => void, { since: number; limitMs: number }>(); // the longest wait first
  private timer: ReturnType<typeof setInterval> | undefined;
  private isTold = false;

  /** `alone` ends all waits, present and future. */
  constructor(
    private readonly onWait: OnWait = () => {},
    alone?: AbortSignal,
  ) {
    this.isAlone = alone?.aborted ?? false;
    alone?.addEventListener('abort', () => this.goOnAlone());
  }

  goOnAlone(): void {
    this.isAlone = true;
    for (const end of [...this.waiting.keys()]) end();
  }

  /**
   * Counts a wait until the returned function is called. Calls `end` when the load goes on alone, at the latest after
   * `limitMs`: a tab that held up one wait would hold up all.
   */
  begin(end: () => void, limitMs: number): () => void {
    if (this.waiting.size === 0) this.timer = setInterval(() => this.report(), REPORT_MS);
    this.waiting.set(end, { since: performance.now(), limitMs });
    return () => {
      if (!this.waiting.delete(end) || this.waiting.size > 0) return;
      clearInterval(this.timer);
      if (this.isTold) this.onWait(undefined);
      this.isTold = false;
    };
  }

  private report(): void {
    const now = performance.now();
    const waits = [...this.waiting.values()];
    if (waits.some(({ since, limitMs }) => now - since >= limitMs)) {
      this.goOnAlone();
      return;
    }
    this.isTold = true;
    this.onWait(now - waits[0].since);
  }
}
