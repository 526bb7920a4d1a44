// Compares a model on quantized activations with the same weights on f32: it follows stories that the f32 model tells,
// and both give the logits at each token. Needs neither Node nor a browser, because the unit test and the bench share
// it.

import { argmax, sample } from '../../../src/cpu/sample';
import type { Llama } from '../../../src/model/llama';
import { GREEDY, OFF } from '../../sampling/params';

/** A model that gives logits (vocab). */
export interface Speaker {
  /** The logits after `ids`, which begin a new text. */
  begin(ids: readonly number[]): Promise<Float32Array>;
  /** The logits after `id` at `position`. */
  follow(id: number, position: number): Promise<Float32Array>;
}

/** A speaker on the GPU: one pass for the beginning, at most a chunk of tokens, then a step for each token. */
export function speakerOf(llama: Llama): Speaker {
  const run = async (ids: readonly number[], position: number) => {
    llama.writeTokens(Uint32Array.from(ids), position); // overwrites the choice of the pass before
    await llama.pass(ids.length, 'sample', position).run({ position, nTokens: ids.length });
    return llama.readLogits();
  };
  llama.setSampling(GREEDY);
  return { begin: (ids) => run(ids, 0), follow: (id, position) => run([id], position) };
}

/** The same, but each token is the end of a pass over the whole text: what only passes of many tokens do is heard. */
export function rereaderOf(llama: Llama): Speaker {
  const { begin } = speakerOf(llama);
  let text: readonly number[] = [];
  const read = (ids: readonly number[]) => {
    text = ids;
    return begin(ids);
  };
  return { begin: read, follow: (id) => read([...text, id]) };
}

export interface Story {
  prompt: readonly number[];
  /** Seed of the draws. */
  seed: number;
  /** Most tokens of the story, which also ends with one of `eosIds`, included in the count. */
  maxTokens: number;
  eosIds: readonly number[];
}

/** The nats by which the reference prefers its likeliest token, at each disagreement of the two. */
interface Flip {
  story: number;
  position: number;
  margin: number;
}

export interface Quality {
  /** The number of stories and of their tokens so far. */
  told: number;
  tokens: number;
  perplexity: { reference: number; measured: number };
  /** Perplexity of the measured model divided by that of the reference, over the same tokens. */
  ratio: number;
  /** Share of the tokens at which both models agree on the likeliest id. */
  agreement: number;
  /** Mean Kullback-Leibler divergence from the reference's distribution to the measured one, in nats. */
  divergence: number;
  flips: Flip[];
}

/**
 * Tells the stories with draws from the reference's whole distribution at temperature 1. The mean surprise of the
 * reference is then the entropy of its language, and that of the measured model is the entropy plus the divergence.
 */
export async function compareSpeakers(
  reference: Speaker,
  measured: Speaker,
  stories: Iterable<Story>,
  onStory: (quality: Quality) => void = () => {},
): Promise<Quality> {
  const tally = new Tally();
  for (const { prompt, seed, maxTokens, eosIds } of stories) {
    const wholly = { ...OFF, seed };
    let [expected, heard] = await Promise.all([reference.begin(prompt), measured.begin(prompt)]);
    for (let position = prompt.length; ; position++) {
      const id = sample(expected, wholly, [], position);
      tally.add(expected, heard, id, position);
      if (position + 1 === prompt.length + maxTokens || eosIds.includes(id)) break;
      [expected, heard] = await Promise.all([reference.follow(id, position), measured.follow(id, position)]);
    }
    tally.told++;
    onStory(tally.quality());
  }
  return tally.quality();
}

class Tally {
  told = 0;
  private tokens = 0;
  /** Sums of nats. */
  private referenceNats = 0;
  private measuredNats = 0;
  private divergence = 0;
  private readonly flips: Flip[] = [];

  /** Adds the logits of both models before token `id`. */
  add(expected: Float32Array, heard: Float32Array, id: number, position: number): void {
    const p = logProbabilities(expected);
    const q = logProbabilities(heard);
    this.tokens++;
    this.referenceNats -= p[id];
    this.measuredNats -= q[id];
    for (let i = 0; i < p.length; i++) this.divergence += Math.exp(p[i]) * (p[i] - q[i]);
    const [best, other] = [argmax(expected), argmax(heard)];
    if (best !== other) this.flips.push({ story: this.told, position, margin: expected[best] - expected[other] });
  }

  quality(): Quality {
    const { told, tokens, referenceNats, measuredNats, divergence, flips } = this;
    return {
      told,
      tokens,
      perplexity: { reference: Math.exp(referenceNats / tokens), measured: Math.exp(measuredNats / tokens) },
      ratio: Math.exp((measuredNats - referenceNats) / tokens),
      agreement: 1 - flips.length / tokens,
      divergence: divergence / tokens,
      flips: [...flips],
    };
  }
}

/** log softmax, in doubles. */
function logProbabilities(logits: Float32Array): Float64Array {
  let max = Number.NEGATIVE_INFINITY;
  for (const logit of logits) max = Math.max(max, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - max);
  const logSum = max + Math.log(sum);
  return Float64Array.from(logits, (logit) => logit - logSum);
}
