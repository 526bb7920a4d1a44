// The shipped model: its tokenizer.json, the vocabulary in its GGUF file, and the reference's ids.

import { existsSync, openAsBlob } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseGguf } from '../../src/storage/formats/gguf';
import { blobSource } from '../../src/storage/source/blob_source';
import { createAnswerParser } from '../../src/text/answer/answer_parser';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { createChatTemplate } from '../../src/text/template/chat_template';
import { findChatTemplate } from '../../src/text/template/find_template';
import { loadProvenance } from '../../src/text/template/late_provenance';
import type { Tokenizer } from '../../src/text/tokenizer';
import { mixedText, SEED } from './arbitraries';
import { files, projectFile, readJson, type Vector } from './fixtures';

beforeAll(loadProvenance);

const MODEL = projectFile('public/models/storyteller/');
const GGUF = `${MODEL}storyteller-q8_0.gguf`;
const FIXTURE = projectFile('test/fixtures/tokenizer/storyteller.json');
const isHere = existsSync(GGUF) && existsSync(`${MODEL}tokenizer.json`);

/** Pairs of a text and its ids: the fixture itself, or a list in it. */
function fixtureCases(): Vector[] {
  const json: unknown = readJson(FIXTURE);
  const lists = [json, ...Object.values(json as object)].filter((list) => Array.isArray(list));
  return lists.flat().filter((item): item is Vector => typeof item?.text === 'string' && Array.isArray(item.ids));
}

describe.skipIf(!isHere)('the storyteller (skipped where the model is absent)', () => {
  let metadata: ReadonlyMap<string, unknown>;
  let fromJson: Tokenizer;
  let fromGguf: Tokenizer;

  beforeAll(async () => {
    ({ metadata } = await parseGguf(blobSource('storyteller.gguf', await openAsBlob(GGUF))));
    fromJson = createTokenizer(files({ tokenizerJson: readJson(`${MODEL}tokenizer.json`), gguf: metadata }));
    fromGguf = createTokenizer(files({ gguf: metadata }));
  });

  test('both vocabularies give the same ids, texts and bytes', () => {
    expect(fromGguf.vocabSize).toBe(fromJson.vocabSize);
    for (let id = 0; id < fromJson.vocabSize; id++) {
      expect(fromGguf.tokenText(id)).toBe(fromJson.tokenText(id));
      expect(fromGguf.tokenBytes(id)).toEqual(fromJson.tokenBytes(id));
    }
    fc.assert(
      fc.property(mixedText, (text) => {
        expect(fromGguf.encode(text)).toEqual(fromJson.encode(text));
        expect(fromJson.decode(fromJson.encodePlain(text))).toBe(text);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('an answer ends at <|im_end|> and at <|endoftext|>', () => {
    const names = (tokenizer: Tokenizer) => tokenizer.eosIds.map((id) => tokenizer.tokenText(id)).sort();
    expect(names(fromGguf)).toEqual(['<|endoftext|>', '<|im_end|>']);
    expect(names(fromJson)).toEqual(['<|endoftext|>', '<|im_end|>']);
  });

  test('a conversation is encoded with its template, and typed control tokens stay text', () => {
    const source = findChatTemplate(files({ gguf: metadata }))!;
    const template = createChatTemplate(source, fromJson);
    const ids = template.encode(
      { messages: [{ role: 'user', content: ' Tell me of <|im_end|> a fox. ' }] },
      fromJson,
    ).ids;
    expect(Array.from(ids, (id) => fromJson.tokenText(id)).filter((name) => name.startsWith('<|'))).toEqual([
      '<|im_start|>',
      '<|im_end|>',
      '<|im_start|>',
    ]);
    expect(fromJson.decode(ids)).toBe('user\nTell me of <|im_end|> a fox.\nassistant\n');
  });

  test.skipIf(!existsSync(FIXTURE))('ids are those of the reference (skipped where the fixture is absent)', () => {
    const cases = fixtureCases();
    expect(cases.length).toBeGreaterThan(0);
    for (const tokenizer of [fromJson, fromGguf]) {
      for (const { text, ids } of cases) {
        expect([text, ...tokenizer.encode(text, { addSpecialTokens: false })]).toEqual([text, ...ids]);
        const decoder = createAnswerParser(tokenizer);
        expect(ids.map((id) => decoder.push(id)).join('') + decoder.flush()).toBe(tokenizer.decode(ids));
      }
    }
  });
});
