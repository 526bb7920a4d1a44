/**
 * The stages of each token of one answer. All times are milliseconds, moments on the scale of performance.now(). What
 * `arrived` finds stays in fields until the next: a token allocates nothing.
 */
export class TokenClock {
  readonly start = performance.now();
  tokenized = 0;
  /** When the first token arrived, and the newest. */
  first: number | null = null;
  last = 0;
  /** Of the newest token, as in TokenEvent. */
  tbtMs: number | null = null;
  inFlightMs = 0;
  workerMs: number | null = null;
  readonly gaps: number[] = [];
  /** For each token, when the recording of its step began. */
  private readonly recorded: number[] = [];
  private tokens = 0;
  /** When the loop began to wait for an arrival; it works while this is infinite. */
  private waiting = Number.POSITIVE_INFINITY;

  /** The recording of the step of a token that is asked for next began at `at`. */
  records(at: number): void {
    this.recorded.push(at);
  }

  /** From now on this thread has nothing to do but to wait. */
  waits(): void {
    this.waiting = performance.now();
  }

  /** The next token is here. */
  arrived(): void {
    const now = performance.now();
    this.inFlightMs = now - this.recorded[this.tokens++];
    if (this.first === null) this.first = now;
    else {
      this.tbtMs = now - this.last;
      this.workerMs = Math.min(this.waiting, now) - this.last;
      this.gaps.push(this.tbtMs);
    }
    this.waiting = Number.POSITIVE_INFINITY;
    this.last = now;
  }
}
