// Log probabilities as the textbook writes them: log softmax, with a sort.

export interface Logprobs {
  /** The logarithm of the drawn token's probability. */
  chosen: number;
  /** The most probable tokens, of equals the lower id first. Tokens whose logit is -Infinity are left out. */
  top: { id: number; logprob: number }[];
}

/** log(exp(logit) / sum(exp(logits))), of `id` and of the k best. logits: (vocab), as the model gives them. */
export function logprobs(logits: Float32Array, id: number, k: number): Logprobs {
  let max = Number.NEGATIVE_INFINITY;
  for (const logit of logits) max = Math.max(max, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - max);
  const logprob = (logit: number) => logit - max - Math.log(sum);
  const finite = [...logits.keys()].filter((each) => Number.isFinite(logits[each]));
  const best = finite.sort((a, b) => logits[b] - logits[a] || a - b).slice(0, k);
  return { chosen: logprob(logits[id]), top: best.map((each) => ({ id: each, logprob: logprob(logits[each]) })) };
}
