// The GPU's times of an answer that takes turns: they are numbered as its tokens are.

import { expect, test } from 'vitest';
import { AnswerTurns } from '../../../src/engine/worker/answer_turns';
import type { Session } from '../../../src/engine/worker/request/session';
import { TokenClock } from '../../../src/engine/worker/steps/token_clock';
import type { AnswerBeside } from '../../../src/engine/worker/turns/beside';

/** Turns whose steps bring a token each. `timed`: the times that the backend or a batch has of the newest of them. */
function takingTurns() {
  let newest: readonly number[] | null = [];
  const clock = new TokenClock();
  const session = { backend: { stepTimes: async () => newest } } as unknown as Session;
  const turns = new AnswerTurns(session, clock, { timed: true } as AnswerBeside['asked']);
  const run = (steps: number, timed: readonly number[] | null) => {
    clock.gaps.push(...Array<number>(steps).fill(1));
    newest = timed;
  };
  return { turns, run };
}

test('are those of each turn and of each batch, in order', async () => {
  const { turns, run } = takingTurns();
  run(2, [1, 2]);
  await turns.keepTimes();
  run(3, null);
  turns.addTimes([3, 4, 5]);
  run(2, [6, 7]);
  expect(await turns.stepTimes()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('of an answer that ended in a batch, leave out what the clock has of others', async () => {
  const { turns, run } = takingTurns();
  run(2, [1, 2]);
  await turns.keepTimes();
  run(1, [9, 9]);
  turns.isBeside = true;
  turns.addTimes([3]);
  expect(await turns.stepTimes()).toEqual([1, 2, 3]);
});

test('end before a step that no clock has timed', async () => {
  const { turns, run } = takingTurns();
  run(3, [1, 2]); // more steps than stamps
  await turns.keepTimes();
  run(2, [4, 5]);
  await turns.keepTimes();
  turns.addTimes([6]);
  expect(await turns.stepTimes()).toEqual([1, 2]);
});

test('are null without a clock', async () => {
  const { turns, run } = takingTurns();
  run(3, null);
  expect(await turns.stepTimes()).toBeNull();
});
