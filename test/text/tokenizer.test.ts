// The tokenizer on small vocabularies, compared with the library's own models and checked for its guarantees.

import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TokenizerError } from '../../src/errors';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { MODEL, PERSON, TEMPLATE } from '../../src/text/authors';
import { MAX_TEXT_LENGTH } from '../../src/text/tokenizer';
import { mixedText, plainText, SEED } from './arbitraries';
import { files, type Json } from './fixtures';
import { byteLevelJson, sentencePieceGguf } from './tiny_vocabulary';

const byteLevel = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
const sentencePiece = createTokenizer(files({ gguf: sentencePieceGguf() }));
const both = [
  ['byte-level', byteLevel],
  ['SentencePiece', sentencePiece],
] as const;
const text = { addSpecialTokens: false };

describe.each(both)('%s', (name, tokenizer) => {
  test('plain text round-trips', () => {
    // SentencePiece writes spaces as this mark, and reads the mark as a space.
    const kept = (plain: string) => (name === 'SentencePiece' ? plain.replaceAll('▁', ' ') : plain);
    fc.assert(
      fc.property(plainText, (plain) => {
        expect(tokenizer.decode(tokenizer.encodePlain(plain))).toBe(kept(plain));
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  test('the concatenated bytes of the tokens are the text', () => {
    const ids = tokenizer.encodePlain('Größe: 文字 🙂');
    const bytes = Array.from(ids).flatMap((id) => [...tokenizer.tokenBytes(id)]);
    expect(new TextDecoder().decode(Uint8Array.from(bytes)).trimStart()).toBe('Größe: 文字 🙂');
  });

  test('no ids and ids past the vocabulary decode to no text', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decode([tokenizer.vocabSize, 1e9])).toBe('');
    expect(tokenizer.tokenBytes(tokenizer.vocabSize).length).toBe(0);
    expect(Array.from(tokenizer.encodePlain(''))).toEqual([]);
  });

  test('half a surrogate pair becomes U+FFFD', () => {
    expect(tokenizer.decode(tokenizer.encode('a\ud83d b', text))).toBe('a\ufffd b');
    expect(tokenizer.decode(tokenizer.encodePlain('\ude42'))).toBe('\ufffd');
  });

  test('pieces without control tokens are encoded like the whole text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ text: plainText, author: fc.constantFrom(TEMPLATE, MODEL, PERSON) }), { maxLength: 5 }),
        (parts) => {
          const whole = parts.map((part) => part.text).join('');
          fc.pre(!tokenizer.couldForge(whole, PERSON));
          const authors = parts.flatMap((part) => Array<number>(part.text.length).fill(part.author));
          expect(tokenizer.encodeAuthored(whole, Uint8Array.from(authors))).toEqual(tokenizer.encode(whole, text));
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});

test("ids equal the library's wherever it equals the reference", () => {
  const library = new LibraryTokenizer(byteLevelJson(), {});
  fc.assert(
    fc.property(mixedText, (mixed) => {
      fc.pre(mixed !== '' && !/[\u0085\ufeff]/.test(mixed)); // its \s is JavaScript's
      expect([...byteLevel.encode(mixed, text)]).toEqual(library.encode(mixed, { add_special_tokens: false }).ids);
    }),
    { seed: SEED, numRuns: 1000 },
  );
});

test('short and long words give the same merges', () => {
  const library = new LibraryTokenizer(byteLevelJson(), {});
  for (const length of [63, 64, 65, 66, 500]) {
    const word = Array.from({ length }, (_, i) => 'theoquickbr'[(i * i + (i >> 2)) % 11]).join('');
    expect([...byteLevel.encode(word, text)]).toEqual(library.encode(word, { add_special_tokens: false }).ids);
  }
});

test('control tokens are found in trusted text, longest first, and never in plain text', () => {
  const [end, user, , halfEnd] = [...byteLevel.encode('<|end|><|user|><|assistant|><|end', text)];
  expect(byteLevel.tokenText(end)).toBe('<|end|>');
  expect(byteLevel.tokenText(halfEnd)).toBe('<|end');
  expect(byteLevel.tokenBytes(user).length).toBe(0);
  expect(byteLevel.decode(byteLevel.encode('a<|end|>b', text))).toBe('ab');
  expect(byteLevel.decode(byteLevel.encodePlain('a<|end|>b'))).toBe('a<|end|>b');
  expect([...byteLevel.encodePlain('<|end|>')]).not.toContain(end);
  expect(byteLevel.decode(byteLevel.encode('a<tool>b', text))).toBe('a<tool>b'); // added, but not a control token
});

test('lstrip, rstrip and single_word are respected', () => {
  const json = byteLevelJson();
  const token = { normalized: false, special: true };
  json.added_tokens = [
    { ...token, id: 400, content: '<l>', lstrip: true },
    { ...token, id: 401, content: '<r>', rstrip: true },
    { ...token, id: 402, content: 'word', single_word: true, special: false },
  ];
  const tokenizer = createTokenizer(files({ tokenizerJson: json }));
  expect(tokenizer.decode(tokenizer.encode('a \n<l> b <r>\t c', text))).toBe('a b c');
  const counts = ['word', 'a word.', 'sword', 'words', 'wordé'].map((t) => tokenizer.encode(t, text).includes(402));
  expect(counts).toEqual([true, true, false, false, false]);
});

test('the post-processor gives the prefix and suffix of a text', () => {
  const json = byteLevelJson();
  const item = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  json.post_processor = {
    type: 'TemplateProcessing',
    single: [item('<s>'), { Sequence: { id: 'A', type_id: 0 } }, item('<|end|>')],
    special_tokens: { '<s>': { id: '<s>', ids: [7] }, '<|end|>': { id: '<|end|>', ids: [8, 9] } },
  };
  const tokenizer = createTokenizer(files({ tokenizerJson: json }));
  expect([...tokenizer.encode('')]).toEqual([7, 8, 9]);
  expect([...tokenizer.encode('', text)]).toEqual([]);
  expect([...sentencePiece.encode('')]).toEqual([1]);
});

test("answers end at eos, at the generation config's tokens, and at well-known control tokens", () => {
  const json = byteLevelJson();
  const idOf = (content: string) =>
    (json.added_tokens as Json[]).find((token) => token.content === content)!.id as number;
  const tokenizer = createTokenizer(
    files({
      tokenizerJson: json,
      tokenizerConfig: { eos_token: { content: '<s>' }, bos_token: '<|user|>' },
      generationConfig: { eos_token_id: [idOf('<s>'), 5] },
    }),
  );
  expect(tokenizer.eosToken).toBe('<s>');
  expect(tokenizer.bosToken).toBe('<|user|>');
  expect([...tokenizer.eosIds].sort()).toEqual([idOf('<s>'), 5, idOf('<|end|>')].sort());
  expect(sentencePiece.eosIds).toEqual([2]);
});

test('a text past the limit is refused with its length', () => {
  const long = 'a'.repeat(MAX_TEXT_LENGTH + 1);
  for (const run of [() => byteLevel.encode(long), () => byteLevel.encodePlain(long)]) {
    expect(run).toThrow(TokenizerError);
    expect(run).toThrow(String(MAX_TEXT_LENGTH + 1));
  }
});

test.each([
  ['letters', 'a'],
  ['spaces', ' '],
  ['characters of four bytes', '🙂'],
  ['one word after another', 'thequickbrownfox'],
])('a long text without spaces does not hang: %s', (_, unit) => {
  const long = unit.repeat(Math.floor(300_000 / unit.length));
  for (const [, tokenizer] of both) {
    const start = process.cpuUsage();
    expect(tokenizer.decode(tokenizer.encodePlain(long))).toBe(long);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(20_000);
  }
});
