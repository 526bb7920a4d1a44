// The timings of llama.cpp's server, from the times of tokens.

import type { Pieces, TokenTimes } from './pieces';

/** The times of the choice that is being written. */
export class Timings {
  private choice = -1;
  private tokens = 0;
  private promptMs = 0;
  private firstAtMs = 0;
  private lastAtMs = 0;

  /** The timings up to a piece. The first token ends the prompt, so that decoding is timed from it on. */
  add(choice: number, tokens: readonly TokenTimes[], { promptTokens, cachedTokens }: Pieces): object {
    const [first] = tokens;
    if (first && choice !== this.choice) {
      this.choice = choice;
      this.tokens = 0;
      this.promptMs = first.inFlightMs;
      this.firstAtMs = first.atMs;
    }
    this.tokens += tokens.length;
    const newTokens = promptTokens - cachedTokens;
    this.lastAtMs = tokens.at(-1)?.atMs ?? this.lastAtMs;
    const ms = this.lastAtMs - this.firstAtMs;
    return {
      cache_n: cachedTokens,
      prompt_n: newTokens,
      prompt_ms: this.promptMs,
      prompt_per_second: (newTokens * 1000) / this.promptMs,
      predicted_n: this.tokens,
      predicted_ms: ms,
      predicted_per_second: ((this.tokens - 1) * 1000) / ms,
    };
  }
}
