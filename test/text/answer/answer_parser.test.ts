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
