// Who wrote an answer, and when: signing, the line under the answer, and stored copies.

import { expect, test } from 'vitest';
import { newTurn, type Turn } from '../../../src/ui/conversation/conversation';
import { parseConversation } from '../../../src/ui/conversation/conversation_parse';
import { newConversation } from '../../../src/ui/conversation/conversation_tree';
import { byline, MAX_WRITERS, signBegin, signEnd } from '../../../src/ui/conversation/writers';

const MORNING = new Date(2026, 10, 23, 8, 24).getTime();

function written(...models: string[]): Turn {
  const turn = newTurn('Why?');
  models.forEach((model, i) => {
    signBegin(turn, model);
    signEnd(turn, MORNING + i * 60_000);
  });
  return turn;
}

test('one model that goes on signs once, with the time of its last end; another one signs beside it', () => {
  expect(written('a', 'a', 'b').writers).toEqual([
    { model: 'a', endedAt: MORNING + 60_000 },
    { model: 'b', endedAt: MORNING + 120_000 },
  ]);
  const many = written(...Array.from({ length: 100 }, (_, i) => `model ${i}`));
  expect(many.writers).toHaveLength(MAX_WRITERS);
  expect(many.writers.at(-1)?.model).toBe('model 99');
  expect(written('x'.repeat(1_000)).writers[0].model).toHaveLength(200);
});

test('the line has the model and the time of today, or the day; its title has each writer with the full date', () => {
  const turn = written('Storyteller', 'Qwen');
  expect(byline(turn, MORNING + 3_600_000, 'en')?.short).toMatch(/^Storyteller \+ Qwen · 8:25\sAM$/);
  expect(byline(turn, MORNING + 86_400_000, 'en')?.short).toBe('Storyteller + Qwen · Nov 23, 2026');
  expect(byline(turn, MORNING, 'en')?.full).toMatch(
    /^Storyteller, Monday, November 23, 2026 at 8:24:00\sAM\nQwen, Monday, November 23, 2026 at 8:25:00\sAM$/,
  );
  expect(byline(turn, MORNING, 'de')?.short).toBe('Storyteller + Qwen · 08:25');
});

test('of an unknown end there is the model alone, and of an unknown writer nothing', () => {
  const turn = newTurn('Why?');
  expect(byline(turn, MORNING, 'en')).toBeNull();
  signBegin(turn, 'Storyteller');
  expect(byline(turn, MORNING, 'en')).toEqual({ short: 'Storyteller', full: 'Storyteller' });
});

test('a copy keeps its writers, an older one has none, and a forged one is refused', () => {
  const read = (turn: object) => parseConversation({ ...newConversation(), turns: [turn] }).turns[0].writers;
  const turn = written('a', 'b');
  expect(read(turn)).toEqual(turn.writers);
  const { writers: _, ...older } = turn;
  expect(read(older)).toEqual([]);
  for (const [writers, reason] of [
    ['a', /its list of writers is not a list/],
    [Array(MAX_WRITERS + 1).fill({ model: 'a', endedAt: 0 }), /21 entries, and 20 are the most/],
    [[{ model: 'x'.repeat(201), endedAt: 0 }], /the model of a writer has 201 letters/],
    [[{ model: 'a', endedAt: -1 }], /endedAt is not a number/],
    [[{ model: 'a', endedAt: 9e15 }], /endedAt is not a number/],
  ] as const) {
    expect(() => read({ ...turn, writers })).toThrow(reason);
  }
});
