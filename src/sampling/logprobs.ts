// Log probabilities of tokens under softmax(logits), before penalties, biases and filters, as a step brings them: the
// entries of a ring on the GPU, and what they say.

import { NO_TOKEN } from './sampling';

/** Most of the likeliest tokens that are reported. */
export const MAX_LOGPROBS = 20;

/** Entries of the ring, for steps that share a readback: later ones are queued behind the copy. */
export const LOGPROBS_RING = 16;

/** The log probability of the token drawn, and the likeliest tokens with theirs, most probable first. */
export interface Logprobs {
  chosen: number;
  top: readonly { id: number; logprob: number }[];
}

/** The ids of steps that share a readback, and the log probabilities of each. */
export interface IdsWithLogprobs {
  ids: Uint32Array;
  logprobs: readonly Logprobs[];
}

/** Words of an entry: the logprob of the token drawn, then id and logprob of each of the `most` likeliest tokens. */
export function entryWords(most: number): number {
  return 1 + 2 * most;
}

/** Bytes of the ring with the largest entries. */
export const LOGPROBS_BYTES = 4 * LOGPROBS_RING * entryWords(MAX_LOGPROBS);

/** Reads `count` ids, and then an entry for each. Where few logits are finite, the end of an entry is empty. */
export function readLogprobs(words: Uint32Array, count: number, most: number): IdsWithLogprobs {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const logprobs = Array.from({ length: count }, (_, step): Logprobs => {
    const first = count + step * entryWords(most);
    const top: { id: number; logprob: number }[] = [];
    for (let i = first + 1; i < first + entryWords(most) && words[i] !== NO_TOKEN; i += 2) {
      top.push({ id: words[i], logprob: floats[i + 1] });
    }
    return { chosen: floats[first], top };
  });
  return { ids: words.subarray(0, count), logprobs };
}
