// Expressions in use run as they are; expressions that would hang are refused or run on short pieces.

import { describe, expect, test } from 'vitest';
import { TokenizerError } from '../../../src/errors';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { regexCost } from '../../../src/text/encode/regex_cost';
import { caseWords } from '../../../src/text/encode/word_regexes';
import { PRE_TYPES } from '../../../src/text/vocabulary/gguf_pre_types';
import { cpuMs } from '../../cpu_time';
import { files, type Json } from '../fixtures';
import { byteLevelJson } from '../tiny_vocabulary';

const CL100K =
  "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";
const WORDS = (digits: string, first = "(?i:'s|'t|'re|'ve|'m|'ll|'d)") =>
  `${first}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

/** Copied from published tokenizer.json files. */
const IN_USE: [string, string][] = [
  ['Llama 3', WORDS('\\p{N}{1,3}')],
  ['Qwen 2 and 3', WORDS('\\p{N}')],
  ['StableLM 2', WORDS('\\p{N}', "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])")],
  ['Qwen 3.5', WORDS('\\p{N}').replace('\\p{L}+', '[\\p{L}\\p{M}]+')],
  ['OLMo 2 and Phi-4', CL100K],
  ['GPT-4o', caseWords("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", '\\p{N}{1,3}')],
  ['Tekken', caseWords('', '\\p{N}')],
  ['BLOOM', ' ?[^(\\s|[.,!?…。，、।۔،])]+'],
  [
    'DeepSeek 3, letters',
    '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
  ],
  ['DeepSeek Coder', '\\s?\\p{L}+'],
  [
    'EXAONE MoE',
    '[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+',
  ],
  ['T5 and ALBERT', ' {2,}'],
  ['CLIP', '\\s+'],
  ['Falcon', '[0-9][0-9][0-9]'],
];

test.each(IN_USE)('%s runs as it is', (_, source) => {
  expect(regexCost(source)).toBe('linear');
});

test('so do all rules of GGUF files except three', () => {
  const slow = [...PRE_TYPES].filter(([, { splits }]) => splits.some((source) => regexCost(source) !== 'linear'));
  // Runs of spaces by powers of two, and digits grouped in thousands from the end of a number.
  expect(slow.map(([name]) => name)).toEqual(['jais-2', 'tiny_aya', 'cohere2moe']);
});

test.each([
  ['two repeats that share a text', 'a*a*b'],
  ['a search for an end', '\\s+$'],
  ['thousands, from the end', '\\d{1,3}(?=(?:\\d{3})*\\b)'],
  ['a known part without the part that makes it safe', '\\s*[\\r\\n]+'],
  ['an exact word after a repeat', '.*x'],
  ['many ways to the end of a word', '(?:[^b]|[^c]){8}b'],
])('runs on short pieces: %s', (_, source) => {
  expect(regexCost(source)).toBe('polynomial');
});

test.each([
  ['a repeat of a repeat', '(a+)+b'],
  ['the same in disguise', '(?:a*){1,}$'],
  ['a repeated choice', '(?:a|a)*b'],
  ['many choices', `${'a?'.repeat(30)}${'a'.repeat(30)}`],
  ['many choices, counted', '(?:a?){30}a{30}'],
  ['counted repeats', '(?:a{1,100}){1,100}b'],
  ['rounds that share a stretch', '(?:a{1,3}){1000,}b'],
  ['three repeats', '.*.*.*x'],
  ['choices before two repeats', '(?:[^b]|[^c]){9}.*.*x'],
  ['choices before a repeat', '(?:[^b]|[^c]){9}[^c]*b'],
  ['choices before a long count', '(?:[^b]|[^c]){9}[^c]{1000}b'],
  ['a repeat in what looks ahead', '(?:(?=a+b)a)*c'],
  ['classes in a row, which the compiler walks in all ways', '\\p{L}{1,3}'.repeat(3)],
  ['the same in threes', '[^\\p{L}\\p{N}]{3}'.repeat(3)],
  ['the same as a choice', '(?:\\p{L}|\\p{N}|\\p{M}|\\p{P})'.repeat(8)],
  ['the same where it may be left out', `(?:${'[\\p{L}]'.repeat(8)})?`],
  ['a reference', '(a+)\\1+b'],
  ['a named reference', '(?<x>a)\\k<x>'],
  ['many brackets', `${'('.repeat(60)}a${')'.repeat(60)}`],
  ['too long', 'a'.repeat(5000)],
  ['an open bracket', '(a'],
  ['an open class', '[a'],
  ['a closing bracket', 'a)'],
  ['a condition', '(?(1)a|b)'],
  ['nothing to repeat', '*'],
])('is refused: %s', (_, source) => {
  const start = cpuMs();
  expect(() => regexCost(source)).toThrow(TokenizerError);
  expect(cpuMs() - start).toBeLessThan(5000);
});

const withSplit = (pattern: Json, behavior = 'Isolated'): Json => ({
  ...byteLevelJson(),
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Split', pattern, behavior, invert: false },
      { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
    ],
  },
});

describe('inside a tokenizer', () => {
  test('an expression that would hang is refused and quoted', () => {
    const run = (tokenizerJson: Json) => () => createTokenizer(files({ tokenizerJson }));
    expect(run(withSplit({ Regex: '(a+)+b' }))).toThrow(/\(a\+\)\+b/);
    const normalizer = (Regex: string) => ({
      ...byteLevelJson(),
      normalizer: { type: 'Sequence', normalizers: [{ type: 'Replace', pattern: { Regex }, content: '' }] },
    });
    expect(run(normalizer('(.*)*x'))).toThrow(TokenizerError);
    expect(run(normalizer('a*b'))).toThrow(TokenizerError);
    expect(run(normalizer(' {2,}'))).not.toThrow();
  });

  test('a slow expression ends with ids or an error', () => {
    const tokenizer = createTokenizer(files({ tokenizerJson: withSplit({ Regex: 'a*a*b' }) }));
    expect(tokenizer.decode(tokenizer.encodePlain('the aab dog'))).toBe('the aab dog');
    const start = cpuMs();
    expect(() => tokenizer.encodePlain('a'.repeat(1_000_000))).toThrow(TokenizerError);
    expect(cpuMs() - start).toBeLessThan(20_000);
  });

  test.each<[string, Json]>([
    ['Metaspace', { type: 'Metaspace', replacement: '\u2581'.repeat(65_537) }],
    ['Metaspace of two characters', { type: 'Metaspace', replacement: '  ' }],
    ['CharDelimiterSplit', { type: 'CharDelimiterSplit', delimiter: '\u2581'.repeat(65_537) }],
    ['Split', { type: 'Split', pattern: { String: '\u2581'.repeat(65_537) }, behavior: 'Isolated' }],
    ['Split by a class that is none', { type: 'Split', pattern: { Regex: '\\p{Nope}' }, behavior: 'Isolated' }],
  ])('a delimiter too long for an expression is refused: %s', (_, rule) => {
    const run = () => createTokenizer(files({ tokenizerJson: { ...byteLevelJson(), pre_tokenizer: rule } }));
    expect(run).toThrow(TokenizerError);
  });

  test('a rule with a long replacement is refused', () => {
    for (const part of ['normalizer', 'pre_tokenizer']) {
      const grows = { type: 'Replace', pattern: { String: 'a' }, content: 'b'.repeat(65) };
      const run = () => createTokenizer(files({ tokenizerJson: { ...byteLevelJson(), [part]: grows } }));
      expect(run).toThrow(/writes 65 characters for each match/);
    }
  });

  const double = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' };
  const insert = { type: 'Replace', pattern: { Regex: 'b*' }, content: 'a' };
  const sequence = (steps: Json[]) => ({
    normalizer: { type: 'Sequence', normalizers: steps },
    pre_tokenizer: { type: 'Sequence', pretokenizers: steps },
    decoder: { type: 'Sequence', decoders: [{ type: 'Sequence', decoders: steps }] },
  });
  test.each<[string, keyof ReturnType<typeof sequence>, Json[]]>([
    ['a normalizer that doubles again and again', 'normalizer', Array(22).fill(double)],
    ['a normalizer that inserts again and again', 'normalizer', Array(22).fill(insert)],
    ['a normalizer with a long prefix', 'normalizer', [{ type: 'Prepend', prepend: 'a'.repeat(1000) }]],
    ['a pre-tokenizer that doubles again and again', 'pre_tokenizer', Array(22).fill(double)],
    ['a decoder that doubles again and again', 'decoder', Array(22).fill(double)],
  ])('small rules that make much of a text together are refused: %s', (_, part, steps) => {
    const run = () => {
      const tokenizer = createTokenizer(
        files({ tokenizerJson: { ...byteLevelJson(), decoder: { type: 'Fuse' }, [part]: sequence(steps)[part] } }),
      );
      return tokenizer.decode(tokenizer.encodePlain('a'));
    };
    expect(run).toThrow(TokenizerError);
    expect(run).toThrow(/rules make \d+ characters of [01]; at most 64/);
  });

  test.each(['normalizer', 'pre_tokenizer', 'decoder'] as const)('too many rules are refused: %s', (part) => {
    const steps = Array(257).fill({ ...double, content: 'b' });
    const run = () => createTokenizer(files({ tokenizerJson: { ...byteLevelJson(), [part]: sequence(steps)[part] } }));
    expect(run).toThrow(/has 257 rules of one kind/);
  });

  test.each(['MergedWithPrevious', 'MergedWithNext', 'Removed', 'Contiguous', 'Isolated'])(
    'a text without the delimiter is split quickly: %s',
    (behavior) => {
      const tokenizer = createTokenizer(files({ tokenizerJson: withSplit({ String: ' ' }, behavior) }));
      const start = process.cpuUsage();
      tokenizer.encodePlain('x'.repeat(200_000));
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1000).toBeLessThan(10_000);
    },
  );
});
