// Versions of a question and of its answer, told apart among the turns with one parent.

import { expect, test } from 'vitest';
import { newTurn, type Turn } from '../../../src/ui/conversation/conversation';
import { versionBeside, versionsOf } from '../../../src/ui/conversation/versions';

const among = ['a', 'a', 'b', 'a', 'c', 'b'].map((question) => newTurn(question));
const step = (i: number) => ({ turn: among[i], among });
const at = (turn: Turn | undefined) => (turn ? among.indexOf(turn) : undefined);

test('turns with the same question are versions of its answer, wherever they stand', () => {
  const shown = among.map((_, i) => versionsOf(step(i)));
  expect(shown.map(({ question }) => `${question.place + 1}/${question.places}`)).toEqual([
    '1/3',
    '1/3',
    '2/3',
    '1/3',
    '3/3',
    '2/3',
  ]);
  expect(shown.map(({ answer }) => `${answer.place + 1}/${answer.places}`)).toEqual([
    '1/3',
    '2/3',
    '1/2',
    '3/3',
    '1/1',
    '2/2',
  ]);
});

test('one turn alone has one version of each', () => {
  const [turn] = among;
  expect(versionsOf({ turn, among: [turn] })).toEqual({
    question: { place: 0, places: 1 },
    answer: { place: 0, places: 1 },
  });
});

test('a step goes to the answer beside, or to the newest answer of the question beside', () => {
  expect(at(versionBeside(step(0), 'answer', 1))).toBe(1);
  expect(at(versionBeside(step(3), 'answer', -1))).toBe(1);
  expect(at(versionBeside(step(0), 'question', 1))).toBe(5);
  expect(at(versionBeside(step(2), 'question', -1))).toBe(3);
  for (const [i, of, by] of [
    [0, 'question', -1],
    [4, 'question', 1],
    [0, 'answer', -1],
    [3, 'answer', 1],
    [4, 'answer', 1],
  ] as const) {
    expect(versionBeside(step(i), of, by)).toBeUndefined();
  }
});

test('ten thousand versions are told apart at once', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => newTurn(`question ${i}`));
  expect(versionsOf({ turn: many[9_998], among: many }).question).toEqual({ place: 9_998, places: 10_000 });
});
