// The options of one answer: checked, with defaults filled in, and the sampling parameters among them.

import { InvalidRequestError } from '../../../errors';
import { ALWAYS, type LogitBias, MAX_BIASES, type SamplingParams } from '../../../sampling/sampling';
import { resolveOptions } from '../../option_values';
import { BESIDE, GENERATE_OPTIONS, type Resolved } from '../../options';
import type { GenerateOptions } from '../../protocol';

/** A lower temperature is greedy: 1 / temperature times a difference of logits would leave the range of f32. */
const COLDEST = 1e-6;

/** The sampling parameters that need no prompt. */
type Draw = Omit<SamplingParams, 'answerStart' | 'biases' | 'logprobs'>;

export interface AnswerOptions extends Omit<Resolved<typeof GENERATE_OPTIONS>, keyof Draw> {
  draw: Draw;
}

/** @throws InvalidRequestError for a value that is not legal */
export function resolveGenerate(given: GenerateOptions, call: 'chat' | 'complete' = 'complete'): AnswerOptions {
  const { temperature, topK, topP, minP, repetitionPenalty, presencePenalty, frequencyPenalty, seed, ...rest } =
    resolveOptions(GENERATE_OPTIONS, given, BESIDE[call]);
  const draw = {
    temperature: temperature < COLDEST ? 0 : temperature,
    topK,
    topP,
    minP,
    repetitionPenalty,
    presencePenalty,
    frequencyPenalty,
    seed: seed ?? randomSeed(),
  };
  return { ...rest, draw };
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}

/** The model and the prompt of an answer, as far as sampling depends on them. */
export interface AnswerPlace {
  /** The position of the answer's first token. */
  start: number;
  vocabSize: number;
  /** Ids that end an answer. */
  eosIds: readonly number[];
}

/** @throws InvalidRequestError for a bias of a token that the model lacks */
export function samplingParams(options: AnswerOptions, place: AnswerPlace): SamplingParams {
  const { draw, logprobs = null } = options;
  return { ...draw, answerStart: place.start, biases: biasesOf(options, place), logprobs };
}

function biasesOf({ logitBias, minTokens, ignoreEos }: AnswerOptions, place: AnswerPlace): LogitBias[] {
  const { start, vocabSize, eosIds } = place;
  const biases = new Map<number, LogitBias>();
  for (const [key, bias] of Object.entries(logitBias)) {
    const id = Number(key);
    if (id >= vocabSize) {
      throw new InvalidRequestError(
        `logitBias names token ${id}, but the model has tokens 0 to ${vocabSize - 1}.`,
        'logitBias',
      );
    }
    biases.set(id, { id, bias, forbiddenUntil: 0 });
  }
  const forbiddenUntil = ignoreEos ? ALWAYS : minTokens > 0 ? Math.min(start + minTokens, ALWAYS) : 0;
  for (const id of eosIds) {
    if (forbiddenUntil > 0 && id < vocabSize) biases.set(id, { id, bias: biases.get(id)?.bias ?? 0, forbiddenUntil });
  }
  if (biases.size > MAX_BIASES) {
    throw new InvalidRequestError(
      `${biases.size} tokens have a bias or end an answer; at most ${MAX_BIASES} can be kept from coming.`,
      'logitBias',
    );
  }
  return [...biases.values()];
}
