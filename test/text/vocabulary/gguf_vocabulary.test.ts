// Vocabularies in GGUF files: the same ids as from tokenizer.json, compared with SentencePiece's own rule.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { PRE_TYPES } from '../../../src/text/vocabulary/gguf_pre_types';
import { ggufVocabulary } from '../../../src/text/vocabulary/gguf_vocabulary';
import { mixedText, plainText, SEED } from '../arbitraries';
import { files } from '../fixtures';
import { byteLevelGguf, byteLevelJson, sentencePieceGguf, sentencePieceJson } from '../tiny_vocabulary';

test('a byte-level vocabulary gives the ids of the same vocabulary in tokenizer.json', () => {
  const fromJson = createTokenizer(files({ tokenizerJson: byteLevelJson() }));
  const fromGguf = createTokenizer(files({ gguf: byteLevelGguf() }));
  fc.assert(
    fc.property(mixedText, (text) => {
      expect(fromGguf.encode(text)).toEqual(fromJson.encode(text));
      expect(fromGguf.decode(fromGguf.encode(text))).toBe(fromJson.decode(fromJson.encode(text)));
    }),
    { seed: SEED, numRuns: 500 },
  );
  expect(fromGguf.eosToken).toBe('<|end|>');
  expect(fromGguf.vocabSize).toBe(fromJson.vocabSize);
});

test('a SentencePiece vocabulary gives the texts of the same vocabulary in tokenizer.json', () => {
  const fromJson = createTokenizer(files({ tokenizerJson: sentencePieceJson() }));
  const fromGguf = createTokenizer(files({ gguf: sentencePieceGguf() }));
  for (let id = 0; id < fromGguf.vocabSize; id++) {
    expect([id, fromGguf.tokenText(id), fromGguf.tokenBytes(id)]).toEqual([
      id,
      fromJson.tokenText(id),
      fromJson.tokenBytes(id),
    ]);
    expect([id, fromGguf.isAdded(id), fromGguf.decode([id, id])]).toEqual([
      id,
      fromJson.isAdded(id),
      fromJson.decode([id, id]),
    ]);
  }
});

test('tokens that begin and end a text are control tokens, whatever the file says of their kind', () => {
  const types = Int32Array.from(byteLevelGguf().get('tokenizer.ggml.token_type') as number[]);
  const edges = byteLevelGguf()
    .set('tokenizer.ggml.bos_token_id', 65)
    .set('tokenizer.ggml.eos_token_id', types.length - 2);
  const { addedTokens } = ggufVocabulary(edges);
  const plain = ggufVocabulary(byteLevelGguf()).addedTokens;
  expect(types[types.length - 2]).toBe(4);
  expect(plain.find(({ id }) => id === types.length - 2)?.special).toBe(false);
  expect(addedTokens.filter(({ id }) => id === 65 || id === types.length - 2).map(({ special }) => special)).toEqual([
    true,
    true,
  ]);
  expect(addedTokens.length).toBe(plain.length + 1);
});

/**
 * SentencePiece's algorithm: repeatedly merges the neighbors whose piece has the highest score, the leftmost among
 * equals.
 */
function sentencePiece(text: string, gguf: ReadonlyMap<string, unknown>): number[] {
  const tokens = gguf.get('tokenizer.ggml.tokens') as string[];
  const types = gguf.get('tokenizer.ggml.token_type') as ArrayLike<number>;
  const scores = gguf.get('tokenizer.ggml.scores') as ArrayLike<number>;
  const pieces = new Map(tokens.flatMap((token, id) => (types[id] === 1 ? [[token, id] as const] : [])));
  const symbols = Array.from(`▁${text.replaceAll(' ', '▁')}`);
  for (;;) {
    let best = -1;
    const score = (i: number) => scores[pieces.get(symbols[i] + symbols[i + 1])!];
    for (let i = 0; i + 1 < symbols.length; i++) {
      if (pieces.has(symbols[i] + symbols[i + 1]) && (best < 0 || score(i) > score(best))) best = i;
    }
    if (best < 0) break;
    symbols.splice(best, 2, symbols[best] + symbols[best + 1]);
  }
  return symbols.flatMap(
    (symbol) => pieces.get(symbol) ?? [...new TextEncoder().encode(symbol)].map((byte) => byte + 3),
  );
}

test.each([
  ['as published', (score: number) => score],
  ['with equal scores', (score: number) => Math.round(score / 7)],
])("a SentencePiece vocabulary %s gives the ids of SentencePiece's algorithm", (_, change) => {
  const gguf = sentencePieceGguf();
  gguf.set('tokenizer.ggml.scores', (gguf.get('tokenizer.ggml.scores') as Float32Array).map(change));
  const tokenizer = createTokenizer(files({ gguf }));
  fc.assert(
    fc.property(
      fc.oneof(plainText, fc.string({ unit: fc.constantFrom(...'theoquick brown dg'), maxLength: 90 })),
      (text) => {
        fc.pre(text !== '');
        expect([...tokenizer.encodePlain(text)]).toEqual(sentencePiece(text, gguf));
      },
    ),
    { seed: SEED, numRuns: 400 },
  );
});

test('bos comes first if the file or its vocabulary type says so', () => {
  const first = (gguf: Map<string, unknown>) => createTokenizer(files({ gguf })).encode('x')[0];
  expect(first(sentencePieceGguf())).toBe(1);
  expect(first(sentencePieceGguf().set('tokenizer.ggml.add_bos_token', false))).not.toBe(1);
  const llama3 = byteLevelGguf('llama-bpe').set('tokenizer.ggml.bos_token_id', 340);
  expect(first(llama3)).toBe(340);
  expect(first(byteLevelGguf().set('tokenizer.ggml.bos_token_id', 340))).not.toBe(340);
});

test('every rule type splits text without loss', () => {
  for (const name of PRE_TYPES.keys()) {
    const tokenizer = createTokenizer(files({ gguf: byteLevelGguf(name) }));
    const text = "It's 12345 o'clock, ÜBER camelCase\r\n\n  文字です。!? हिन्दी ½ 🙂";
    expect([name, tokenizer.decode(tokenizer.encodePlain(text))]).toEqual([name, text]);
  }
});

test('phi-3 tokens remove the spaces after them, which GGUF cannot express', () => {
  const gguf = sentencePieceGguf().set('general.architecture', 'phi3');
  const added = ggufVocabulary(gguf).addedTokens;
  expect(added.filter((token) => token.rstrip).map((token) => token.content)).toContain('<|user|>');
  expect(added.find((token) => token.content === '<s>')?.rstrip).toBe(false);
});
