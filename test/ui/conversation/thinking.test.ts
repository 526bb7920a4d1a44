// Thinking and calls of a turn: the events that bring them, the words above and below an answer, and what the next
// request holds.

import { expect, test } from 'vitest';
import type { TokenEvent } from '../../../src/engine/protocol';
import {
  endedInThought,
  endRemark,
  isThinking,
  MAX_CALLS,
  newTurn,
  type Turn,
  takeEvent,
  thoughtLabel,
  toMessages,
} from '../../../src/ui/conversation/conversation';
import { mergeConversations } from '../../../src/ui/conversation/conversation_merge';
import { parseConversation } from '../../../src/ui/conversation/conversation_parse';
import { newConversation, replaceTurn } from '../../../src/ui/conversation/conversation_tree';

function token(text: string, tbtMs: number | null): TokenEvent {
  return { type: 'token', id: 1, text, tbtMs, position: 0, atMs: 0, inFlightMs: 1, workerMs: null };
}

/** A turn that has thought for 4.2 s, and has not yet begun its answer. */
function thinking(): Turn {
  const turn = newTurn('Why?');
  takeEvent(turn, token('', null));
  takeEvent(turn, { type: 'reasoning', text: 'Let me ' });
  takeEvent(turn, token('', 3000));
  takeEvent(turn, { type: 'reasoning', text: 'see.' });
  takeEvent(turn, token('', 1200));
  return turn;
}

function ended(more: Partial<Turn>): Turn {
  return { ...thinking(), state: 'done', ...more };
}

test('thinking comes before the answer, and its time ends with the first token of the answer', () => {
  const turn = thinking();
  expect([isThinking(turn), thoughtLabel(turn)]).toEqual([true, 'Thinking…']);
  expect(takeEvent(turn, token('\n', 100))).toBe(true);
  expect(isThinking(turn)).toBe(true);
  takeEvent(turn, token('So', 300));
  takeEvent(turn, token('.', 60_000));
  expect(turn).toMatchObject({ reasoning: 'Let me see.', answer: '\nSo.', thoughtMs: 4600 });
  expect([isThinking(turn), thoughtLabel(turn)]).toEqual([false, 'Thought for 5 s']);
});

test('a token of thinking changes nothing that is seen, and its text does', () => {
  const turn = newTurn('Why?');
  expect(takeEvent(turn, token('', null))).toBe(false);
  expect(takeEvent(turn, { type: 'reasoning', text: 'a' })).toBe(true);
});

test.each([
  [0, 'Thought for less than a second'],
  [1499, 'Thought for 1 s'],
  [59_499, 'Thought for 59 s'],
  [59_500, 'Thought for 1 min'],
  [125_000, 'Thought for 2 min 5 s'],
  [3_780_000, 'Thought for 1 h 3 min'],
  [null, 'Thinking'],
])('after %s ms: %s', (thoughtMs, label) => {
  expect(thoughtLabel(ended({ answer: 'So.', thoughtMs }))).toBe(label);
});

test('thinking without an answer says why, with the remedy', () => {
  const usage = { promptTokens: 5, cachedTokens: 0, completionTokens: 20, reasoningTokens: 20 };
  const remarks = (['abort', 'length', 'context', 'eos'] as const).map((finishReason) => {
    const turn = ended({ finishReason, usage });
    expect(endedInThought(turn)).toBe(true);
    return endRemark(turn);
  });
  expect(remarks).toEqual([
    'Stopped while thinking, before the answer',
    'Thinking stopped at your 20-token limit, before the answer.',
    'Thinking was cut before the answer: the model’s memory was full. Make room.',
    'The model thought, but gave no answer. Try again.',
  ]);
  expect(endRemark(ended({ finishReason: 'length', usage }), true)).toMatch(/answer\. You can switch it off\.$/);
  expect(endRemark(ended({ finishReason: 'abort', answer: 'So' }))).toBe('Stopped');
});

test('earlier thinking goes back with its answer, and a turn that never answered is left out', () => {
  const turns = [ended({ answer: 'So.' }), ended({ finishReason: 'abort' }), newTurn('And?')];
  expect(toMessages(turns, '')).toEqual([
    { role: 'user', content: 'Why?' },
    { role: 'assistant', content: 'So.', reasoning: 'Let me see.' },
    { role: 'user', content: 'And?' },
  ]);
});

test('calls come in parts, and one that cannot be read keeps its raw text', () => {
  const turn = newTurn('Why?');
  takeEvent(turn, { type: 'tool-call', index: 0, id: 'a', name: 'weather', arguments: '' });
  takeEvent(turn, { type: 'tool-call', index: 0, arguments: '{"city":' });
  takeEvent(turn, { type: 'tool-call', index: 0, arguments: '"Bern"}' });
  takeEvent(turn, { type: 'tool-call-error', index: 1, message: 'No JSON.', text: '<tool_call>oops' });
  expect(turn.calls).toEqual([
    { name: 'weather', arguments: '{"city":"Bern"}', error: null },
    { name: '', arguments: '<tool_call>oops', error: 'No JSON.' },
  ]);
  const done: Turn = { ...turn, state: 'done', finishReason: 'tool-calls' };
  expect([isThinking(turn), endedInThought(done), endRemark(done)]).toEqual([
    false,
    false,
    'The model asked for a tool.',
  ]);
  expect(toMessages([done, newTurn('b')], '').map(({ content }) => content)).toEqual(['b']);
});

test('a turn keeps as many calls as a stored one may have', () => {
  const turn = { ...newTurn('Why?'), state: 'done' as const };
  for (let index = 0; index <= MAX_CALLS; index++) {
    takeEvent(turn, { type: 'tool-call', index, name: 'x', arguments: '{}' });
  }
  expect(turn.calls).toHaveLength(MAX_CALLS);
  const stored = parseConversation({ ...newConversation(), turns: [turn] });
  expect(stored.turns[0].calls).toEqual(turn.calls);
});

test('copies from before thinking are read, and thinking counts like any text', () => {
  const { reasoning: _, thoughtMs: __, calls: ___, ...older } = { ...newTurn('Why?'), answer: 'So.' };
  const [turn] = parseConversation({ ...newConversation(), turns: [older] }).turns;
  expect(turn).toMatchObject({ reasoning: '', thoughtMs: null, calls: [], answer: 'So.' });
  const large = { ...older, reasoning: 'x'.repeat(10_000_001) };
  expect(() => parseConversation({ ...newConversation(), turns: [large] })).toThrow(
    /its thinking has 10000001 letters/,
  );
});

test('no thinking is lost: another answer is a branch, and the longer copy wins', () => {
  const thought = ended({ finishReason: 'abort' });
  const conversation = { ...newConversation(), turns: [thought] };
  expect(replaceTurn(conversation, thought, 'Why?').conversation.turns).toHaveLength(2);
  const longer = { ...thought, reasoning: `${thought.reasoning} And more.` };
  const older = { ...conversation, turns: [longer], updatedAt: conversation.updatedAt - 1 };
  expect(mergeConversations(conversation, older).turns).toEqual([longer]);
});
