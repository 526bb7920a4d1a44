// The one clock of an answer.

/**
 * The stages of each token of one answer, in milliseconds. Moments are on the scale of performance.now(). `arrived`
 * stores its results in fields until the next token, so that a token allocates nothing.
 */
export class TokenClock {
  readonly start = performance.now();
  tokenized = 0;
  /** Arrival of the first token. `last`: of the newest. */
  first: number | null = null;
  last = 0;
  /** Times of the newest token, as in TokenEvent. */
  tbtMs: number | null = null;
  inFlightMs = 0;
  workerMs: number | null = null;
  othersMs = 0;
  readonly gaps: number[] = [];
  /** Start of the recording of each token's step. */
  private readonly recorded: number[] = [];
  private tokens = 0;
  /** Milliseconds of other requests since the newest token. */
  private away = 0;
  /** Start of the loop's wait for an arrival, or infinite while the loop works. */
  private waiting = Number.POSITIVE_INFINITY;

  /** Notes that the recording of the next token's step began at `at`. */
  records(at: number): void {
    this.recorded.push(at);
  }

  /** Forgets the recorded steps whose tokens have not arrived: they are recorded again. */
  forgets(): void {
    this.recorded.length = this.tokens;
  }

  /** Notes that the loop waits from now on. */
  waits(): void {
    this.waiting = performance.now();
  }

  /** Notes that other requests ran for so long. Nothing was in flight. */
  othersRan(ms: number): void {
    this.away += ms;
  }

  /** Notes the arrival of the next token. One that the reader has been told before gives no times. */
  arrived(isTold = false): void {
    const now = performance.now();
    this.inFlightMs = now - this.recorded[this.tokens++];
    this.othersMs = this.away;
    this.away = 0;
    if (isTold) this.last = now;
    else if (this.first === null) this.first = now;
    else {
      this.tbtMs = now - this.last;
      this.workerMs = Math.max(0, Math.min(this.waiting, now) - this.last - this.othersMs);
      this.gaps.push(this.tbtMs);
    }
    this.waiting = Number.POSITIVE_INFINITY;
    this.last = now;
  }
}
