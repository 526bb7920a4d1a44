// What the times of earlier prompts say about the next one.

import { expect, test } from 'vitest';
import { PromptTimes } from '../../../src/engine/backend/prompt_times';

const FIRST = 3e11;

/** Times of passes of these tokens, with operations that no test here looks at. */
function after(...waits: (readonly [tokens: number, ms: number])[]): PromptTimes {
  const times = new PromptTimes(FIRST);
  for (const [tokens, ms] of waits) times.add(tokens, 1, ms);
  return times;
}

test('a pass is expected after the time of the nearest length, the newest of the same length', () => {
  expect(after().expected(512)).toBe(0);
  const times = after([384, 70], [512, 90], [384, 80], [640, 115]);
  expect([384, 512, 640].map((tokens) => times.expected(tokens))).toEqual([80, 90, 115]);
  expect(times.expected(430)).toBe(80); // 46 tokens more may take the same time
  expect(times.expected(496)).toBeCloseTo((496 / 512) * 90, 10);
});

test('a length that is more than a quarter off tells about passes from 256 tokens on, and about no short one', () => {
  const times = after([320, 60], [32, 4]);
  expect(times.expected(640)).toBe(120);
  expect(times.expected(256)).toBe(48);
  expect(times.expected(255)).toBe(0);
  expect(after([200, 30]).expected(300)).toBe(0);
  expect([40, 39, 26, 25].map((tokens) => times.expected(tokens))).toEqual([0, 4, (26 / 32) * 4, 0]);
});

test('the times of sixteen lengths are kept, the newest', () => {
  const times = after([2, 1], [1000, 99], ...Array.from({ length: 14 }, (_, i) => [4 ** (i + 6), 5] as const));
  expect(times.expected(2)).toBe(1);
  times.add(2, 1, 3);
  times.add(1, 1, 2);
  expect([times.expected(2), times.expected(1)]).toEqual([3, 2]);
  expect(times.expected(1000)).toBe((1000 / 4096) * 5); // the time of 1000 tokens was the oldest
});

test.each([
  ['a GPU that does 120 TOP/s: 10 ms', 256, 12e12, 100, 4 * FIRST],
  ['no more than that', 256, 1e15, 100, 4 * FIRST],
  ['45 TOP/s, to the nearest power of two', 256, 4.5e12, 100, 2 * FIRST],
  ['40 TOP/s', 256, 4e12, 100, FIRST],
  ['a TOP/s', 256, 1e11, 100, FIRST / 16],
  ['no less than that', 256, 1e9, 100, FIRST / 16],
  ['too few tokens to tell', 255, 12e12, 100, FIRST],
  ['nothing was counted', 256, 0, 100, FIRST],
  ['too short a time to tell', 256, 1.2e12, 9.9, FIRST],
])('operations of a submit: %s', (_title, tokens, operations, ms, expected) => {
  const times = new PromptTimes(FIRST);
  expect(times.submitOperations).toBe(FIRST);
  times.add(tokens, operations, ms);
  expect(times.submitOperations).toBe(expected);
  times.add(256, 3e12, 100);
  expect(times.submitOperations).toBe(FIRST);
});
