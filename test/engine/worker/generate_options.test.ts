// The options of an answer: defaults and ranges.

import { describe, expect, test } from 'vitest';
import { resolveGenerate } from '../../../src/engine/worker/generate_options';
import { InvalidRequestError } from '../../../src/errors';

/** The defaults of the options that these tests leave out. */
const UNSET = {
  ignoreEos: false,
  logitBias: {},
  logprobs: undefined,
  minTokens: 0,
  n: 1,
  reasoning: 'split',
  thinking: 'auto',
};

test('what is absent takes its default, and the seed is random', () => {
  const { sampling, ...rest } = resolveGenerate({});
  const { seed, ...others } = sampling;
  const penalties = { repetitionPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 };
  expect(others).toEqual({ temperature: 0.6, topK: 40, topP: 0.9, minP: 0.05, ...penalties, ...UNSET });
  expect(rest).toEqual({ maxTokens: undefined, stop: [], runAhead: 'auto', gpuTimes: false });
  expect(seed).toBe(seed >>> 0);
  expect(new Set(Array.from({ length: 8 }, () => resolveGenerate({}).sampling.seed)).size).toBeGreaterThan(1);
});

test('what is given is kept, an undefined counts as absent', () => {
  const given = { temperature: 0, topK: 0, topP: 0, minP: 1, repetitionPenalty: 1.3, seed: 0xffffffff };
  expect(resolveGenerate(given).sampling).toEqual({ ...given, presencePenalty: 0, frequencyPenalty: 0, ...UNSET });
  expect(resolveGenerate({ temperature: undefined, seed: 3 }).sampling).toMatchObject({ temperature: 0.6, seed: 3 });
});

test('a temperature too cold for f32 is greedy', () => {
  expect(resolveGenerate({ temperature: 1e-9 }).sampling.temperature).toBe(0);
  expect(resolveGenerate({ temperature: 1e-5 }).sampling.temperature).toBe(1e-5);
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
