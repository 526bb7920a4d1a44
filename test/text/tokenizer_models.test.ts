// Unigram, WordPiece and splitting rules against the ids of the reference (tools/make_fixtures/tokenizer_vectors.py).

import { describe, expect, test } from 'vitest';
import { createAnswerParser } from '../../src/text/answer/answer_parser';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { PERSON } from '../../src/text/authors';
import { files, type Json, projectFile, readJson } from './fixtures';

interface Model {
  tokenizer: Json;
  ids: number[][];
  decoded: string[];
}

const { texts, models } = readJson(projectFile('test/fixtures/tokenizer/models.json')) as {
  texts: string[];
  models: Record<string, Model>;
} & Json;
const tokenizerOf = (name: string) => createTokenizer(files({ tokenizerJson: models[name].tokenizer }));
const text = { addSpecialTokens: false };

describe.each(Object.keys(models))('%s', (name) => {
  const { ids, decoded } = models[name];
  const tokenizer = tokenizerOf(name);

  test.each(texts.map((plain, i) => [plain.slice(0, 40), i] as const))('%j', (_, i) => {
    expect([...tokenizer.encode(texts[i], text)]).toEqual(ids[i]);
    expect(tokenizer.decode(ids[i])).toBe(decoded[i]);
    const stream = createAnswerParser(tokenizer);
    expect(ids[i].map((id) => stream.push(id)).join('') + stream.flush()).toBe(decoded[i]);
  });
});

test.each(['unigram', 'unigram with bytes', 'unigram with a character map', 'word pieces'])(
  'a person cannot type a control token: %s',
  (name) => {
    const tokenizer = tokenizerOf(name);
    const control = (models[name].tokenizer.added_tokens as { id: number; content: string }[]).filter(
      ({ content }) => !/unk/i.test(content), // the unknown token may come from any text
    );
    expect(control.length).toBeGreaterThan(2);
    for (const { id, content } of control) {
      expect([...tokenizer.encode(`a ${content} b`)]).toContain(id);
      for (const typed of [content, `a ${content} b`, `a${content}`]) {
        expect([...tokenizer.encodePlain(typed)]).not.toContain(id);
        expect([...tokenizer.encodeAuthored(typed, new Uint8Array(typed.length).fill(PERSON))]).not.toContain(id);
      }
    }
  },
);

test.each([
  ['unigram', 'a', 300_000],
  ['unigram with bytes', '\ud55c', 100_000],
  ['unigram with a character map', 'e\u0301', 100_000],
  ['unigram with a character map', '\u0301', 100_000],
  ['word pieces', 'a', 300_000],
  ['word pieces', `${'girl'.repeat(25)} `, 30_000], // the library's worst case: 15 microseconds per character
  ['bytes behind marks', 'girl', 300_000],
  ['split behind', 'x', 300_000],
] as const)('a long text without a break does not hang: %s, %j', (name, unit, length) => {
  const start = process.cpuUsage();
  const ids = tokenizerOf(name).encodePlain(unit.repeat(Math.floor(length / unit.length)));
  expect(ids.length).toBeGreaterThan(0);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(20_000);
});
