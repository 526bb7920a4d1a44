// Sampling parameters for tests.

import type { SamplingParams } from '../../src/sampling/sampling';

/** Every filter, penalty and report turned off. */
export const OFF: SamplingParams = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: 7,
  answerStart: 0,
  biases: [],
  logprobs: null,
};

export const GREEDY: SamplingParams = { ...OFF, temperature: 0 };
