// Damaged and hostile vocabularies end quickly in a TokenizerError, never in another error.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TokenizerError } from '../../src/errors';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { SEED } from './arbitraries';
import { files, type Json } from './fixtures';
import { byteLevelGguf, byteLevelJson, sentencePieceGguf } from './tiny_vocabulary';

const model = (change: Json): Json => {
  const json = byteLevelJson();
  return { ...json, model: { ...(json.model as Json), ...change } };
};

const DAMAGED: [string, Json, string][] = [
  ['nothing at all', {}, 'model'],
  ['another model', model({ type: 'WordLevel' }), 'WordLevel'],
  ['pieces that are no list', model({ type: 'Unigram' }), '0 tokens'],
  ['a piece without a score', model({ type: 'Unigram', vocab: [['a', -1], ['b']] }), 'Token 1'],
  ['a score without end', model({ type: 'Unigram', vocab: [['a', Number.NaN]] }), 'Token 0'],
  ['an unknown token past the end', model({ type: 'Unigram', vocab: [['a', -1]], unk_id: 1 }), 'the id 1'],
  ['words without end', model({ type: 'WordPiece', max_input_chars_per_word: 1e9 }), '1000000000'],
  ['words of no length', model({ type: 'WordPiece', max_input_chars_per_word: Number.NaN }), 'NaN'],
  [
    'a character map that is no base64',
    { ...byteLevelJson(), normalizer: { type: 'Precompiled', precompiled_charsmap: '!' } },
    'base64',
  ],
  [
    'a character map past its end',
    { ...byteLevelJson(), normalizer: { type: 'Precompiled', precompiled_charsmap: btoa('\xff\xff\0\0') } },
    '65535',
  ],
  ['no vocabulary', model({ vocab: null }), 'vocabulary'],
  ['an empty vocabulary', model({ vocab: {} }), '0 tokens'],
  ['an id below zero', model({ vocab: { a: -1 } }), '-1'],
  ['a huge id', model({ vocab: { a: 1e15 } }), '1000000000000000'],
  ['a fraction', model({ vocab: { a: 0.5 } }), '0.5'],
  ['no merges', model({ merges: undefined }), 'merges'],
  ['a merge of three', model({ merges: [['a', 'b', 'c']] }), 'Merge 0'],
  [
    'a merge of unknown tokens',
    model({
      merges: [
        ['a', 'b'],
        ['zz', 'z'],
      ],
    }),
    'Merge 0',
  ],
  ['suffixes', model({ end_of_word_suffix: '</w>' }), 'end of words'],
  ['an added token without text', { ...byteLevelJson(), added_tokens: [{ id: 3 }] }, '3'],
  [
    'an added token with a huge id',
    { ...byteLevelJson(), added_tokens: [{ id: 2 ** 40, content: 'x' }] },
    '1099511627776',
  ],
  ['an unknown pre-tokenizer', { ...byteLevelJson(), pre_tokenizer: { type: 'Nope' } }, 'Nope'],
  ['an unknown normalizer', { ...byteLevelJson(), normalizer: { type: 'Nope' } }, 'Nope'],
  ['an unknown decoder', { ...byteLevelJson(), decoder: { type: 'BPEDecoder' } }, 'BPEDecoder'],
  [
    'a broken expression',
    { ...byteLevelJson(), pre_tokenizer: { type: 'Split', pattern: { Regex: '(' } } },
    'expression',
  ],
  ['a Split without a pattern', { ...byteLevelJson(), pre_tokenizer: { type: 'Split' } }, 'pattern'],
];

test.each(DAMAGED)('tokenizer.json: %s', (_, tokenizerJson, number) => {
  const run = () => createTokenizer(files({ tokenizerJson }));
  expect(run).toThrow(TokenizerError);
  expect(run).toThrow(number);
});

test('an added token of a million letters is refused at once', () => {
  const tokenizerJson = { ...byteLevelJson(), added_tokens: [{ id: 3, content: `<${'a'.repeat(1e6)}` }] };
  expect(() => createTokenizer(files({ tokenizerJson }))).toThrow(/has 1000001 characters; at most 512/);
});

test('a piece of SentencePiece past 256 letters is not made, since all its cuts would be looked up', () => {
  const gguf = sentencePieceGguf();
  const add = (name: string, values: unknown[]) => {
    const key = `tokenizer.ggml.${name}`;
    gguf.set(key, [...(gguf.get(key) as Iterable<unknown>), ...values]);
  };
  const runs = Array.from({ length: 10 }, (_, i) => 'Q'.repeat(2 ** i));
  add('tokens', runs);
  for (const name of ['token_type', 'scores']) add(name, Array(10).fill(1));
  const tokenizer = createTokenizer(files({ gguf }));
  const lengths = Array.from(tokenizer.encodePlain(runs[9]), (id) => tokenizer.tokenText(id).length);
  expect(lengths.filter((length) => length > 1)).toEqual([256, 256]);
});

test('names of JavaScript properties are ordinary tokens', () => {
  const json = JSON.parse(
    '{"added_tokens":[],"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":{"type":"Fuse"},' +
      '"model":{"type":"BPE","merges":[],"vocab":{"__proto__":0,"constructor":1,"toString":2,"a":3}}}',
  ) as Json;
  const tokenizer = createTokenizer(files({ tokenizerJson: json }));
  expect(tokenizer.tokenText(0)).toBe('__proto__');
  expect(tokenizer.decode([1, 2])).toBe('constructortoString');
  expect([...tokenizer.encode('abc')]).toEqual([3]); // no byte for b and c, and no unknown token
});

describe('GGUF metadata', () => {
  const change = (base: Map<string, unknown>, key: string, value: unknown) =>
    new Map(base).set(`tokenizer.ggml.${key}`, value);
  const CASES: [string, Map<string, unknown>, string][] = [
    ['empty', new Map(), '0 tokens'],
    ['another model', change(byteLevelGguf(), 'model', 'rwkv'), 'rwkv'],
    ['no tokens', change(byteLevelGguf(), 'tokens', []), '0 tokens'],
    ['a token that is no text', change(byteLevelGguf(), 'tokens', ['a', 3]), 'Token 1'],
    ['too few types', change(byteLevelGguf(), 'token_type', [1, 1]), 'types'],
    ['unknown rules', change(byteLevelGguf(), 'pre', 'martian'), 'martian'],
    ['no merges', change(byteLevelGguf(), 'merges', undefined), 'merges'],
    ['a merge without a space', change(byteLevelGguf(), 'merges', ['ab']), 'Merge 0'],
    ['too few scores', change(sentencePieceGguf(), 'scores', new Float32Array(3)), '3 scores'],
    ['no scores', change(sentencePieceGguf(), 'scores', undefined), '0 scores'],
    ['rewritten text', change(sentencePieceGguf(), 'precompiled_charsmap', new Uint8Array(9)), 'rewrites'],
  ];
  test.each(CASES)('%s', (_, gguf, number) => {
    const run = () => createTokenizer(files({ gguf }));
    expect(run).toThrow(TokenizerError);
    expect(run).toThrow(number);
  });
});

test('any replaced value gives a tokenizer or a TokenizerError', () => {
  const keys = ['model', 'added_tokens', 'normalizer', 'pre_tokenizer', 'post_processor', 'decoder'];
  const modelKeys = ['type', 'vocab', 'merges', 'unk_token', 'merge_ranks', 'byte_fallback', 'unk_id'];
  const types = ['BPE', 'Unigram', 'WordPiece', 'BertNormalizer', 'Precompiled', 'BertPreTokenizer'];
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
    fc.record({
      type: fc.constantFrom('Sequence', 'Split', 'ByteLevel', 'Replace', 'Metaspace', 'TemplateProcessing', 'Strip'),
    }),
    fc.record({ type: fc.constantFrom(...types), vocab: fc.constantFrom<unknown>([['a', 0]], { a: 0 }, [], 1) }),
    fc.constantFrom(...types),
  );
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.constantFrom('', ...modelKeys), junk, (key, modelKey, value) => {
      const json = modelKey === '' ? { ...byteLevelJson(), [key]: value } : model({ [modelKey]: value });
      try {
        createTokenizer(files({ tokenizerJson: json })).encode('the quick <|end|> 🙂');
      } catch (error) {
        expect(error).toBeInstanceOf(TokenizerError);
      }
    }),
    { seed: SEED, numRuns: 400 },
  );
});
