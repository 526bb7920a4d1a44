// Reference log probabilities, by hand.

import { expect, test } from 'vitest';
import { logprobs } from '../../src/cpu/logprobs';

test('are the logarithms of softmax', () => {
  const { chosen, top } = logprobs(Float32Array.from([0.1, 0.4, 0.2, 0.3], Math.log), 2, 3);
  expect(Math.exp(chosen)).toBeCloseTo(0.2, 6);
  expect(top.map(({ id, logprob }) => [id, Math.exp(logprob)])).toEqual([
    [1, expect.closeTo(0.4, 6)],
    [3, expect.closeTo(0.3, 6)],
    [2, expect.closeTo(0.2, 6)],
  ]);
});

test('do not change when every logit grows by the same, even far', () => {
  const near = logprobs(Float32Array.of(1, 2, 4), 0, 0);
  expect(logprobs(Float32Array.of(1001, 1002, 1004), 0, 0).chosen).toBeCloseTo(near.chosen, 12);
  expect(logprobs(Float32Array.of(-999, -998, -996), 0, 0).chosen).toBeCloseTo(near.chosen, 12);
});

test('of equals name the lower id first, and of -Infinity none', () => {
  const { chosen, top } = logprobs(Float32Array.of(1, Number.NEGATIVE_INFINITY, 3, 1, 3), 1, 9);
  expect(chosen).toBe(Number.NEGATIVE_INFINITY);
  expect(top.map(({ id }) => id)).toEqual([2, 4, 0, 3]);
});
