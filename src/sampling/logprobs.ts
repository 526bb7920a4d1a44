// Log probabilities of tokens under softmax(logits), before penalties, biases and filters, as a step brings them.

/** Most of the likeliest tokens that are reported. */
export const MAX_LOGPROBS = 20;

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
