// The options of one answer: checked, with defaults filled in, and the sampling parameters among them.

import type { SamplingParams } from '../../sampling/sampling';
import { resolveOptions } from '../option_values';
import { GENERATE_OPTIONS, type Resolved } from '../options';
import type { GenerateOptions } from '../protocol';

/** A lower temperature is greedy: 1 / temperature times a difference of logits would leave the range of f32. */
const COLDEST = 1e-6;

export interface AnswerOptions
  extends Pick<Resolved<typeof GENERATE_OPTIONS>, 'maxTokens' | 'stop' | 'runAhead' | 'gpuTimes'> {
  sampling: SamplingParams;
}

/** @throws InvalidRequestError for a value that is not legal */
export function resolveGenerate(given: GenerateOptions): AnswerOptions {
  const { maxTokens, stop, runAhead, gpuTimes, ...options } = resolveOptions(GENERATE_OPTIONS, given);
  const { temperature, seed = randomSeed() } = options;
  return {
    sampling: { ...options, temperature: temperature < COLDEST ? 0 : temperature, seed },
    maxTokens,
    stop,
    runAhead,
    gpuTimes,
  };
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
