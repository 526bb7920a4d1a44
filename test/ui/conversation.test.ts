import { expect, test } from 'vitest';
import {
  contextTokens,
  endRemark,
  newTurn,
  type Turn,
  takeEvent,
  timingParts,
  toMessages,
} from '../../src/ui/conversation';

function turn(question: string, answer: string, more: Partial<Turn> = {}): Turn {
  return { ...newTurn(question), answer, state: 'done', ...more };
}

test('the whole conversation is sent, and the last question is the one to answer', () => {
  const turns = [turn('a', 'A'), turn('b', 'B'), turn('c', '', { state: 'streaming' })];
  expect(toMessages(turns, '').map((m) => `${m.role}:${m.content}`)).toEqual([
    'user:a',
    'assistant:A',
    'user:b',
    'assistant:B',
    'user:c',
  ]);
});

test('a system message comes first', () => {
  expect(toMessages([turn('a', '')], 'Be brief.')[0]).toEqual({ role: 'system', content: 'Be brief.' });
});

test('failed turns and empty answers are left out, so that roles alternate', () => {
  const turns = [
    turn('a', 'half', { state: 'error' }),
    turn('b', ' ', { finishReason: 'abort' }),
    turn('c', 'C'),
    turn('d', ''),
  ];
  expect(toMessages(turns, '').map((m) => m.content)).toEqual(['c', 'C', 'd']);
});

test('an answer that was stopped midway stays part of the conversation', () => {
  const turns = [turn('a', 'half an', { finishReason: 'abort' }), turn('b', '')];
  expect(toMessages(turns, '').map((m) => m.content)).toEqual(['a', 'half an', 'b']);
});

test('events grow the answer, and a warning is not its business', () => {
  const asked = newTurn('a');
  const stages = { atMs: 0, inFlightMs: 1, workerMs: null };
  expect(takeEvent(asked, { type: 'prefill', done: 2, total: 9 })).toBe(true);
  expect(takeEvent(asked, { type: 'token', id: 1, text: 'He', tbtMs: null, position: 9, ...stages })).toBe(true);
  expect(takeEvent(asked, { type: 'token', id: 2, text: 'llo', tbtMs: 1, position: 10, ...stages })).toBe(true);
  expect(takeEvent(asked, { type: 'warning', code: 'attention-fallback', message: 'x' })).toBe(false);
  expect(takeEvent(asked, { type: 'recovered', message: 'The GPU was replaced.' })).toBe(true);
  expect(asked).toMatchObject({ answer: 'Hello', prefill: { done: 2, total: 9 }, remarks: ['The GPU was replaced.'] });
});

test('the context holds prompt and answer of the newest turn that has a usage', () => {
  expect(contextTokens([])).toBeNull();
  const usage = { promptTokens: 20, cachedTokens: 0, completionTokens: 5 };
  expect(contextTokens([turn('a', 'A', { usage }), turn('b', '', { state: 'error' })])).toBe(25);
});

test('the line under an answer leaves out what is unknown', () => {
  const timing = { decodeTokensPerSecond: 212.4, ttftMs: 84, tbtP50Ms: null };
  expect(timingParts(timing)).toEqual(['212 tok/s', 'first token 84.0 ms']);
});

test('why an answer ended is said when it did not end by itself', () => {
  expect(endRemark(turn('a', 'A', { finishReason: 'eos' }))).toBeNull();
  expect(endRemark(turn('a', 'A', { finishReason: 'abort' }))).toBe('Stopped');
  expect(endRemark(turn('a', '', { finishReason: 'eos' }))).toContain('without a word');
});
