// The names of tokens with log probabilities.

import { expect, test } from 'vitest';
import { tokenLogprobs } from '../../../../src/engine/worker/steps/token_logprobs';
import { numberTokenizer } from '../../doubles/loop_session';

test('names the chosen token and the likeliest ones, in their order', () => {
  const names = { ...numberTokenizer(), tokenText: (id: number) => `<${id}>` };
  const top = [
    { id: 12, logprob: -0.1 },
    { id: 3, logprob: -2 },
  ];
  expect(tokenLogprobs(names, 3, { chosen: -2, top })).toEqual({
    chosen: { id: 3, token: '<3>', bytes: [32, 51], logprob: -2 },
    top: [
      { id: 12, token: '<12>', bytes: [32, 49, 50], logprob: -0.1 },
      { id: 3, token: '<3>', bytes: [32, 51], logprob: -2 },
    ],
  });
});
