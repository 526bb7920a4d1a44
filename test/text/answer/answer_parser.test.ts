// Arriving ids to the parts of an answer.

import { expect, test } from 'vitest';
import { createAnswerParser } from '../../../src/text/answer/answer_parser';
import { createTokenizer } from '../../../src/text/tokenizer';
import { files } from '../fixtures';
import { byteLevelJson } from '../tiny_vocabulary';

const tokenizer = createTokenizer(files({ tokenizerJson: byteLevelJson() }));

test('an answer without syntax is text, up to the stop string', () => {
  const parser = createAnswerParser(tokenizer, { stop: ['END'] });
  const ids = tokenizer.encode('Hello END more', { addSpecialTokens: false });
  let text = '';
  for (const id of ids) text += parser.push(id);
  expect(text + parser.flush()).toBe('Hello ');
  expect(parser).toMatchObject({ parts: [], stopped: true, reasoningTokens: 0, calls: 0 });
});

test('the parts of the token that stops an answer come once', () => {
  const texts = ['<think>', 'a</think>END'];
  const spelling = { ...tokenizer, tokenBytes: (id: number) => new TextEncoder().encode(texts[id]) };
  const syntax = { thinking: { open: '<think>', close: '</think>', ability: 'always' as const }, tools: null };
  const parser = createAnswerParser(spelling, { stop: ['END'], syntax });
  expect([parser.push(0), parser.push(1), parser.stopped]).toEqual(['', '', true]);
  expect(parser.parts).toEqual([{ type: 'reasoning', text: 'a' }]);
  expect([parser.flush(), parser.parts]).toEqual(['', []]);
});
