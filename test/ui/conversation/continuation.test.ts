// An answer that goes on: when it can, and how the figures of its parts add up.

import { expect, test } from 'vitest';
import { addFigures, isCut, reopen, settlePart, withBegun } from '../../../src/ui/conversation/continuation';
import { endRemark, newTurn, type Turn } from '../../../src/ui/conversation/conversation';
import { parseConversation } from '../../../src/ui/conversation/conversation_parse';
import { newConversation } from '../../../src/ui/conversation/conversation_tree';

const usage = (promptTokens: number, completionTokens: number, reasoningTokens = 0) => ({
  promptTokens,
  cachedTokens: 0,
  completionTokens,
  reasoningTokens,
});
const advice = { what: 'It failed.', next: '', offers: [] };

function cut(more: Partial<Turn> = {}): Turn {
  return { ...newTurn('Count'), state: 'done', finishReason: 'length', answer: 'One', limit: 70, ...more };
}

test('what was cut can go on; what ended, called a tool, streams or has no text cannot', () => {
  for (const finishReason of ['length', 'abort', 'closed', 'context'] as const)
    expect(isCut(cut({ finishReason }))).toBe(true);
  for (const finishReason of ['eos', 'stop', 'tool-calls', null] as const)
    expect(isCut(cut({ finishReason }))).toBe(false);
  expect(isCut(cut({ answer: ' ' }))).toBe(false);
  expect(isCut(cut({ answer: '', reasoning: 'Let me' }))).toBe(true);
  expect(isCut(cut({ calls: [{ name: 'a', arguments: '{}', error: null }] }))).toBe(false);
  expect(isCut(cut({ state: 'streaming' }))).toBe(false);
  expect(isCut(cut({ state: 'error', finishReason: null, advice }))).toBe(true);
});

test('the model reads the answer so far, with its thinking, after the question', () => {
  const question = { role: 'user' as const, content: 'Count' };
  expect(withBegun([question], cut())).toEqual([question, { role: 'assistant', content: 'One' }]);
  expect(withBegun([question], cut({ answer: '', reasoning: 'Let me' }))).toEqual([
    question,
    { role: 'assistant', content: '', reasoning: 'Let me' },
  ]);
});

test('tokens add up to the same context, the speed is that of all tokens, and the wait that of the first part', () => {
  const turn = cut({ usage: usage(10, 30, 5), timing: { decodeTokensPerSecond: 10, ttftMs: 80, tbtP50Ms: 9 } });
  const former = reopen(turn);
  expect(turn).toMatchObject({ state: 'streaming', finishReason: null, answer: 'One' });
  turn.usage = usage(40, 60);
  turn.timing = { decodeTokensPerSecond: 60, ttftMs: 400, tbtP50Ms: 7 };
  addFigures(turn, former);
  expect(turn.usage).toEqual(usage(10, 90, 5));
  expect(turn.timing).toEqual({ decodeTokensPerSecond: 90 / 4, ttftMs: 80, tbtP50Ms: null });
});

test('of a part without figures nothing is made up', () => {
  const turn = cut({ finishReason: 'closed' });
  const former = reopen(turn);
  turn.usage = usage(40, 60);
  turn.timing = { decodeTokensPerSecond: 60, ttftMs: 400, tbtP50Ms: 7 };
  addFigures(turn, former);
  expect(turn.timing).toEqual({ decodeTokensPerSecond: 60, ttftMs: null, tbtP50Ms: null });
  const left = cut({ usage: usage(10, 30) });
  const before = reopen(left);
  Object.assign(left, { answer: 'One two', state: 'done', finishReason: 'abort' });
  settlePart(left, before);
  expect(left.usage).toBeNull();
});

test('a part that fails loses nothing: not the text, not the end, not its place in the conversation', () => {
  const turn = cut({ usage: usage(10, 30) });
  const copy = structuredClone(turn);
  let former = reopen(turn);
  Object.assign(turn, { state: 'error', advice });
  settlePart(turn, former);
  expect(turn).toEqual({ ...copy, advice });
  former = reopen(turn);
  Object.assign(turn, { state: 'error', advice, answer: 'One two' });
  settlePart(turn, former);
  expect(turn).toMatchObject({ state: 'done', answer: 'One two', finishReason: null, advice });
  expect(isCut(turn)).toBe(true);
});

test('the remark names the limit that was reached, of the newest part and also in older copies', () => {
  expect(endRemark(cut({ usage: usage(10, 140) }))).toBe('Stopped at your 70-token limit.');
  const { limit: _, ...older } = cut({ usage: usage(10, 1_200) });
  const [read] = parseConversation({ ...newConversation(), turns: [older] }).turns;
  expect(endRemark(read)).toBe('Stopped at your 1,200-token limit.');
  expect(endRemark(cut({ limit: null }))).toBe('Stopped at your token limit.');
});
