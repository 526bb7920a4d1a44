// The timings of llama.cpp's server, from the times of tokens.

import type { Piece, Pieces } from './pieces';

function rates(name: string, n: number, ms: number, steps: number): Record<string, number | null> {
  const isTimed = steps > 0 && ms > 0;
  return {
    [`${name}_n`]: n,
    [`${name}_ms`]: ms,
    [`${name}_per_token_ms`]: isTimed ? ms / steps : null,
    [`${name}_per_second`]: isTimed ? (steps * 1000) / ms : null,
  };
}

export class Timings {
  private choice = -1;
  private tokens = 0;
  private promptMs = 0;
  private firstAtMs = 0;
  private lastAtMs = 0;

  /** The timings of a choice up to a piece. The first token ends the prompt, so that decoding is timed from it on. */
  add({ choice, tokens }: Piece, { promptTokens, cachedTokens }: Pieces): Record<string, number | null> {
    if (choice !== this.choice) {
      this.choice = choice;
      this.tokens = 0;
      this.promptMs = tokens[0]?.inFlightMs ?? 0;
    }
    for (const { atMs, inFlightMs } of tokens) {
      if (this.tokens++ === 0) {
        this.firstAtMs = atMs;
        this.promptMs = inFlightMs;
      }
      this.lastAtMs = atMs;
    }
    const newTokens = promptTokens - cachedTokens;
    return {
      cache_n: cachedTokens,
      ...rates('prompt', newTokens, this.promptMs, newTokens),
      ...rates('predicted', this.tokens, this.lastAtMs - this.firstAtMs, this.tokens - 1),
    };
  }
}
