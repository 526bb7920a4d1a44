// Turns: the messages made of them for the engine, the events that change them, and the texts under an answer.

import { expect, test } from 'vitest';
import {
  countWords,
  endRemark,
  excerptOf,
  newTurn,
  type Turn,
  takeEvent,
  timingParts,
  toMessages,
} from '../../../src/ui/conversation/conversation';

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

test('events extend the answer, and a warning leaves it unchanged', () => {
  const asked = newTurn('a');
  const stages = { atMs: 0, inFlightMs: 1, workerMs: null };
  expect(takeEvent(asked, { type: 'prefill', done: 2, total: 9 })).toBe(true);
  expect(takeEvent(asked, { type: 'token', id: 1, text: 'He', tbtMs: null, position: 9, ...stages })).toBe(true);
  expect(takeEvent(asked, { type: 'token', id: 2, text: 'llo', tbtMs: 1, position: 10, ...stages })).toBe(true);
  expect(takeEvent(asked, { type: 'warning', code: 'attention-fallback', message: 'x' })).toBe(false);
  expect(asked).toMatchObject({ answer: 'Hello', prefill: { done: 2, total: 9 } });
});

test('a question is cut after twelve lines or 900 letters, never within a character', () => {
  expect(excerptOf('a short one')).toBeNull();
  expect(excerptOf(Array(12).fill('line').join('\n'))).toBeNull();
  expect(excerptOf(Array(13).fill('line').join('\n'))?.split('\n')).toHaveLength(12);
  expect(excerptOf('x'.repeat(900))).toBeNull();
  expect(excerptOf('x'.repeat(1_000_000))).toHaveLength(900);
  expect(excerptOf(`x${'🐱'.repeat(900)}`)).toBe(`x${'🐱'.repeat(449)}`);
});

test('words are counted by the space between them', () => {
  expect([countWords(''), countWords(' \n'), countWords('one'), countWords(' once  upon\na time ')]).toEqual([
    0, 0, 1, 4,
  ]);
});

test('the line under an answer leaves out what is unknown', () => {
  const timing = { decodeTokensPerSecond: 212.4, ttftMs: 84, tbtP50Ms: null };
  expect(timingParts(timing)).toEqual(['212 tok/s', 'first token 84.0 ms']);
  expect(timingParts({ ...timing, tbtP50Ms: 0 })).toEqual(timingParts(timing));
  expect(timingParts({ ...timing, tbtP50Ms: 4.7 })).toEqual([...timingParts(timing), '4.70 ms between tokens']);
});

test('an answer that did not end by itself has a remark with the reason', () => {
  expect(endRemark(turn('a', 'A', { finishReason: 'eos' }))).toBeNull();
  expect(endRemark(turn('a', 'A', { finishReason: 'abort' }))).toBe('Stopped');
  expect(endRemark(turn('a', '', { finishReason: 'eos' }))).toContain('without a word');
});
