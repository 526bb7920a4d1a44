// Sampling as the papers write it, with a sort, and with the random numbers of shaders/sampling/sample.wgsl.
//
// Order: biases, repetition penalty, frequency and presence penalty, temperature, top-k, top-p, min-p, draw. It is that
// of llama.cpp (logit_bias, penalties, then the rest, whose order is free there) and of vLLM (logits processors, then
// penalties, then temperature). Only finite logits are candidates. A NaN or +Infinity among the logits gives no token,
// and neither do logits that are all -Infinity, or all equal: no model computes that. Filters keep or drop equal logits
// together.

/** Stands for a token where there is none. */
export const NO_TOKEN = 0xffffffff;

export interface SampleParameters {
  /** 0 is greedy: the largest logit, among equals the one of the lowest id. */
  temperature: number;
  /** 0 turns it off. */
  topK: number;
  /** 1 turns it off. */
  topP: number;
  /** 0 turns it off. */
  minP: number;
  /** 1 turns it off. */
  repetitionPenalty: number;
  /** 0 turns it off. */
  presencePenalty: number;
  /** 0 turns it off. */
  frequencyPenalty: number;
  /** The index in the context of the answer's first token. */
  answerStart: number;
  biases: readonly Bias[];
  /** u32. */
  seed: number;
}

/** The token cannot come at positions below `forbiddenUntil`. */
export interface Bias {
  id: number;
  bias: number;
  forbiddenUntil: number;
}

export interface Candidate {
  id: number;
  logit: number;
  probability: number;
}

/**
 * The id of the next token, or NO_TOKEN. logits: (vocab), not modified; context: the tokens so far; position: that of
 * the new token, `context.length` in ordinary use.
 */
export function sample(
  logits: Float32Array,
  parameters: SampleParameters,
  context: ArrayLike<number>,
  position = context.length,
): number {
  const penalized = penalize(addBiases(logits, parameters.biases, position), context, parameters);
  const best = isFlat(penalized) ? NO_TOKEN : argmax(penalized);
  if (parameters.temperature === 0 || best === NO_TOKEN) return best;
  return draw(survivors(penalized, parameters), parameters, position);
}

/** True if all logits are equal, as a GPU that has stopped computing leaves them. */
function isFlat(logits: Float32Array): boolean {
  return logits.length > 1 && logits.every((logit) => logit === logits[0]);
}

/** logit + bias, or -Infinity for a forbidden token. position: that of the new token. */
export function addBiases(logits: Float32Array, biases: readonly Bias[], position: number): Float32Array {
  const biased = logits.slice();
  for (const { id, bias, forbiddenUntil } of biases) {
    biased[id] += position < forbiddenUntil ? Number.NEGATIVE_INFINITY : bias;
  }
  return biased;
}

type Penalties = Pick<SampleParameters, 'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty' | 'answerStart'>;

/**
 * Each token of the context, once: logit > 0 ? logit / penalty : logit * penalty. Keskar et al. 2019, arXiv:1909.05858.
 * Then each token of the answer, which comes count times: logit - count * frequency - presence. The API reference of
 * OpenAI, frequency_penalty and presence_penalty.
 */
export function penalize(logits: Float32Array, context: ArrayLike<number>, penalties: Penalties): Float32Array {
  const { repetitionPenalty, presencePenalty, frequencyPenalty, answerStart } = penalties;
  const counts = new Map<number, number>();
  for (let i = 0; i < context.length; i++) {
    counts.set(context[i], (counts.get(context[i]) ?? 0) + (i < answerStart ? 0 : 1));
  }
  const penalized = logits.slice();
  for (const [id, count] of counts) {
    let logit = logits[id];
    if (repetitionPenalty !== 1) logit = logit > 0 ? logit / repetitionPenalty : logit * repetitionPenalty;
    if (count > 0) logit -= count * frequencyPenalty + presencePenalty;
    penalized[id] = logit;
  }
  return penalized;
}

/** The id of the largest logit, among equals the lowest. NO_TOKEN if a logit is NaN or +Infinity, or none is finite. */
export function argmax(logits: Float32Array): number {
  let best = NO_TOKEN;
  let most = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id];
    if (!(logit < Number.POSITIVE_INFINITY)) return NO_TOKEN;
    if (logit > most) {
      best = id;
      most = logit;
    }
  }
  return best;
}

/** The candidates of the draw, most probable first, with probabilities that sum to 1. */
export function survivors(logits: Float32Array, parameters: SampleParameters): Candidate[] {
  const { temperature, topK, topP, minP } = parameters;
  let kept: Candidate[] = [];
  for (let id = 0; id < logits.length; id++) {
    if (Number.isFinite(logits[id])) kept.push({ id, logit: logits[id], probability: 0 });
  }
  if (kept.length === 0) return [];
  kept.sort((a, b) => b.logit - a.logit || a.id - b.id);

  // Top-k, Fan et al. 2018, arXiv:1805.04833: all as large as the k-th.
  if (topK > 0 && topK < kept.length) {
    const kth = kept[topK - 1].logit;
    kept = kept.filter((c) => c.logit >= kth);
  }

  const max = kept[0].logit;
  for (const c of kept) c.probability = Math.exp((c.logit - max) / temperature);
  normalize(kept);

  // Top-p, Holtzman et al. 2020, arXiv:1904.09751: down to the candidate at which the mass reaches p.
  if (topP < 1) {
    let mass = 0;
    let last = 0;
    for (; last < kept.length - 1; last++) {
      mass += kept[last].probability;
      if (mass >= topP) break;
    }
    const lastLogit = kept[last].logit;
    kept = kept.filter((c) => c.logit >= lastLogit);
  }

  // Min-p, Nguyen et al. 2024, arXiv:2407.01082.
  const floor = minP * kept[0].probability;
  kept = kept.filter((c) => c.probability >= floor);
  normalize(kept);
  return kept;
}

function normalize(candidates: Candidate[]): void {
  let sum = 0;
  for (const c of candidates) sum += c.probability;
  for (const c of candidates) c.probability /= sum;
}

/**
 * argmax over the candidates of logit / temperature + g(id), with independent Gumbel numbers g, is a draw from
 * softmax(logit / temperature) (Gumbel 1954; Maddison et al. 2014, arXiv:1411.0030). g depends on id, position and seed
 * alone, so the order of evaluation does not matter.
 */
function draw(candidates: Candidate[], { temperature, seed }: SampleParameters, position: number): number {
  let best = 0;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const { id, logit } of candidates) {
    const score = (logit - candidates[0].logit) / temperature + gumbel(id, position, seed);
    if (score > bestScore || (score === bestScore && id < best)) {
      best = id;
      bestScore = score;
    }
  }
  return best;
}

/**
 * g = -log(-log(u)), u = 1 - v, v = (h + 1/2) / 2^32 rounded as f32 arithmetic rounds it, h the first word of pcg3d.
 * Uses log1p because winners have u close to 1, where f32 has few numbers and v has many.
 */
export function gumbel(id: number, position: number, seed: number): number {
  const h = Math.fround(pcg3d(id, position, seed)[0]);
  const v = Math.min(Math.fround(h + 0.5) * 2 ** -32, 1 - 2 ** -24);
  return -Math.log(-Math.log1p(-v));
}

/** A hash of three u32 to three u32. Jarzynski and Olano 2020, "Hash Functions for GPU Rendering", JCGT 9(3). */
export function pcg3d(a: number, b: number, c: number): [number, number, number] {
  let x = (Math.imul(a, 1664525) + 1013904223) >>> 0;
  let y = (Math.imul(b, 1664525) + 1013904223) >>> 0;
  let z = (Math.imul(c, 1664525) + 1013904223) >>> 0;
  x = (x + Math.imul(y, z)) >>> 0;
  y = (y + Math.imul(z, x)) >>> 0;
  z = (z + Math.imul(x, y)) >>> 0;
  x = (x ^ (x >>> 16)) >>> 0;
  y = (y ^ (y >>> 16)) >>> 0;
  z = (z ^ (z >>> 16)) >>> 0;
  x = (x + Math.imul(y, z)) >>> 0;
  y = (y + Math.imul(z, x)) >>> 0;
  z = (z + Math.imul(x, y)) >>> 0;
  return [x, y, z];
}
