// The words of a readback with log probabilities.

import { expect, test } from 'vitest';
import { MOST_SHARED } from '../../src/engine/backend/backend';
import { LOGPROBS_RING, readLogprobs } from '../../src/sampling/logprobs';
import { NO_TOKEN } from '../../src/sampling/sampling';

const bits = (value: number) => new Uint32Array(Float32Array.of(value).buffer)[0];

test('ids first, then an entry for each; an entry may end early', () => {
  const first = [bits(-1.5), 4, bits(-0.5), 9, bits(-1.5)];
  const second = [bits(Number.NEGATIVE_INFINITY), 7, bits(0), NO_TOKEN, bits(Number.NEGATIVE_INFINITY)];
  expect(readLogprobs(Uint32Array.of(9, 8, ...first, ...second), 2, 2)).toEqual({
    ids: Uint32Array.of(9, 8),
    logprobs: [
      {
        chosen: -1.5,
        top: [
          { id: 4, logprob: -0.5 },
          { id: 9, logprob: -1.5 },
        ],
      },
      { chosen: Number.NEGATIVE_INFINITY, top: [{ id: 7, logprob: 0 }] },
    ],
  });
  expect(readLogprobs(Uint32Array.of(3, bits(-2)), 1, 0)).toEqual({
    ids: Uint32Array.of(3),
    logprobs: [{ chosen: -2, top: [] }],
  });
});

test('the ring has an entry for each step that shares a readback', () => {
  expect(LOGPROBS_RING).toBeGreaterThanOrEqual(MOST_SHARED);
});
