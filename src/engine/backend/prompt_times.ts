// How long prompts take on this GPU, by those before. Asks neither the GPU nor a clock.

/** Lengths of passes whose times are kept: the newest. */
const MOST_KEPT = 16;
/** Most that the lengths of two similar passes differ. */
const MOST_LENGTH_RATIO = 1.25;
/** Passes of so many tokens and more take a time in proportion to their tokens. Shorter ones wait for memory. */
const PROPORTIONAL_FROM = 256;

/** Time of a submit. The GPU may show the page between two of them, and idles for about 10 us. */
const SUBMIT_MS = 10;
/** The operations of a submit are doubled or halved so many times. */
const LEAST_DOUBLINGS = -4;
const MOST_DOUBLINGS = 2;

/** The times of the last passes of prompts, and what they say about the next prompt. */
export class PromptTimes {
  /** Milliseconds by tokens, the newest last. */
  private readonly waits = new Map<number, number>();
  private doublings = 0;

  /** @param firstOperations of a submit before a time is known */
  constructor(private readonly firstOperations: number) {}

  /** Takes the time of a prompt's last pass. `operations` are those of its products. */
  add(nTokens: number, operations: number, ms: number): void {
    this.waits.delete(nTokens);
    this.waits.set(nTokens, ms);
    for (const oldest of this.waits.keys()) {
      if (this.waits.size <= MOST_KEPT) break;
      this.waits.delete(oldest);
    }
    // Two late looks at the GPU may make a short pass look much too fast.
    if (nTokens < PROPORTIONAL_FROM || operations === 0 || ms < SUBMIT_MS) return;
    const doublings = Math.round(Math.log2((operations * SUBMIT_MS) / ms / this.firstOperations));
    this.doublings = Math.min(Math.max(doublings, LEAST_DOUBLINGS), MOST_DOUBLINGS);
  }

  /** About the milliseconds of a pass, by that of the nearest length. 0: unknown. */
  expected(nTokens: number): number {
    const apart = (known: number) => Math.abs(Math.log(known / nTokens));
    const [nearest] = [...this.waits].sort(([a], [b]) => apart(a) - apart(b));
    if (!nearest) return 0;
    const [known, ms] = nearest;
    const ratio = nTokens / known;
    // A pass of some more tokens may take the same time.
    if (ratio > 1 / MOST_LENGTH_RATIO && ratio < MOST_LENGTH_RATIO) return Math.min(1, ratio) * ms;
    return Math.min(nTokens, known) >= PROPORTIONAL_FROM ? ratio * ms : 0;
  }

  /** The operations of a submit, so that the page is shown often and the GPU seldom idles. */
  get submitOperations(): number {
    return this.firstOperations * 2 ** this.doublings;
  }
}
