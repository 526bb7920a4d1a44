// The options of an answer: defaults and ranges.

import { describe, expect, test } from 'vitest';
import type { GenerateOptions } from '../../../../src/engine/protocol';
import { resolveGenerate, samplingParams } from '../../../../src/engine/worker/request/generate_options';
import { InvalidRequestError } from '../../../../src/errors';
import { ALWAYS } from '../../../../src/sampling/sampling';

/** The defaults of the options that do not take part in the draw. */
const UNSET = {
  maxTokens: undefined,
  stop: [],
  runAhead: 'auto',
  gpuTimes: false,
  ignoreEos: false,
  logitBias: {},
  logprobs: undefined,
  minTokens: 0,
  n: 1,
  reasoning: 'split',
  reuseCache: true,
  thinking: 'auto',
  toolArguments: 'schema',
};

test('what is absent takes its default, and the seed is random', () => {
  const { draw, ...rest } = resolveGenerate({});
  const { seed, ...others } = draw;
  const penalties = { repetitionPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 };
  expect(others).toEqual({ temperature: 0.6, topK: 40, topP: 0.9, minP: 0.05, ...penalties });
  expect(rest).toEqual(UNSET);
  expect(seed).toBe(seed >>> 0);
  expect(new Set(Array.from({ length: 8 }, () => resolveGenerate({}).draw.seed)).size).toBeGreaterThan(1);
});

test('what is given is kept, an undefined counts as absent', () => {
  const penalties = { repetitionPenalty: 1.3, presencePenalty: -2, frequencyPenalty: 0.5 };
  const given = { temperature: 0, topK: 0, topP: 0, minP: 1, ...penalties, seed: 0xffffffff };
  expect(resolveGenerate(given).draw).toEqual(given);
  expect(resolveGenerate({ temperature: undefined, seed: 3 }).draw).toMatchObject({ temperature: 0.6, seed: 3 });
});

test('a temperature too cold for f32 is greedy', () => {
  expect(resolveGenerate({ temperature: 1e-9 }).draw.temperature).toBe(0);
  expect(resolveGenerate({ temperature: 1e-5 }).draw.temperature).toBe(1e-5);
});

describe('the sampling parameters of an answer', () => {
  const PLACE = { start: 10, vocabSize: 50, eosIds: [7, 9, 50] };
  const params = (given: GenerateOptions, place = PLACE) => samplingParams(resolveGenerate(given), place);

  test('report and forbid nothing by default', () => {
    const { seed, ...rest } = params({ seed: 3, logprobs: 0 });
    expect(seed).toBe(3);
    expect(rest).toMatchObject({ answerStart: 10, biases: [], logprobs: 0 });
    expect(params({}).logprobs).toBeNull();
  });

  test('minTokens forbids what ends an answer until so many are there, ignoreEos for ever', () => {
    const forbids = (forbiddenUntil: number) => [7, 9].map((id) => ({ id, bias: 0, forbiddenUntil }));
    expect(params({ minTokens: 5 }).biases).toEqual(forbids(15));
    expect(params({ minTokens: Number.MAX_SAFE_INTEGER }).biases).toEqual(forbids(ALWAYS));
    expect(params({ minTokens: 5, ignoreEos: true }).biases).toEqual(forbids(ALWAYS));
  });

  test('join the bias of a token that ends an answer with its ban', () => {
    expect(params({ minTokens: 1, logitBias: { 7: 2, 3: -100 } }, { ...PLACE, eosIds: [7] }).biases).toEqual([
      { id: 3, bias: -100, forbiddenUntil: 0 },
      { id: 7, bias: 2, forbiddenUntil: 11 },
    ]);
  });

  test('refuse a token that the model lacks, by its number', () => {
    expect(params({ logitBias: { 49: 1 } }).biases).toHaveLength(1);
    expect(() => params({ logitBias: { 50: 1 } })).toThrow('token 50, but the model has tokens 0 to 49');
    expect(() => params({ logitBias: { 50: 1 } })).toThrow(InvalidRequestError);
  });

  test('refuse more biases than the GPU keeps', () => {
    const place = { ...PLACE, vocabSize: 9000, eosIds: Array.from({ length: 1025 }, (_, i) => 2000 + i) };
    const logitBias = Object.fromEntries(Array.from({ length: 1024 }, (_, id) => [id, 1]));
    expect(params({ logitBias }, place).biases).toHaveLength(1024);
    expect(() => params({ logitBias, ignoreEos: true }, place)).toThrow(/^2049 tokens .* at most 2048/);
  });
});

describe('an illegal number is refused with its name, its value and the legal range', () => {
  for (const [name, value, range] of [
    ['temperature', -0.1, 'from 0 to 100'],
    ['temperature', Number.NaN, 'from 0 to 100'],
    ['temperature', Number.POSITIVE_INFINITY, 'from 0 to 100'],
    ['topK', -1, 'from 0 to 4294967295'],
    ['topK', 1.5, 'from 0 to 4294967295'],
    ['topP', 1.01, 'from 0 to 1'],
    ['minP', -1, 'from 0 to 1'],
    ['repetitionPenalty', 0, 'from 0.01 to 100'],
    ['seed', 2 ** 32, 'from 0 to 4294967295'],
    ['seed', -1, 'from 0 to 4294967295'],
  ] as const) {
    test(`${name}=${value}`, () => {
      const resolve = () => resolveGenerate({ [name]: value });
      expect(resolve).toThrow(InvalidRequestError);
      expect(resolve).toThrow(name);
      expect(resolve).toThrow(range);
      expect(resolve).toThrow(String(value));
    });
  }

  test('a string from a caller without types', () => {
    expect(() => resolveGenerate({ temperature: '1' as unknown as number })).toThrow('got 1');
  });
});
