// Expressions of tokenizers in JavaScript: against the library's translation of them, and where that has none, by hand.

import { SequencePreTokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GPT2_WORDS } from '../../src/text/pre_tokenizer';
import { compileReferenceRegex } from '../../src/text/reference_regex';
import { plainText, SEED } from './arbitraries';

type Rules = ConstructorParameters<typeof SequencePreTokenizer>[0];

const LLAMA3 =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const EXPRESSIONS = [
  GPT2_WORDS,
  LLAMA3,
  LLAMA3.replace('(?i:', '(?:').replace("'s", "'[sS]"),
  "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*',
  '[一-龥぀-ゟ゠-ヿ]+',
  '[\\p{P}\\$\\+<=>\\^~\\|]+',
  '\\p{Han}+|\\p{Script=Hangul}',
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t)?|\\p{N}",
  '[\\p{L}&&[^A-Z]]+',
  '[a-z&&[^aeiou]&&[^x-z]]+',
  '[[:alpha:]]+|[[:^space:]]|[[:punct:]_]+',
  '[^\\s[:punct:]]+',
  '\\w+|[^\\w\\s]+',
  '[\\W\\d]+|[\\H]',
  '\\b\\h+\\b|\\B.',
  '^.*$|\\n',
  '\\A\\s*|\\s*\\z',
  '.{2}+|[]a]|[a-]|[-a]|[&a]',
  '(?<=\\s)\\S+(?=\\s)|(?<!\\s)e',
  'e\\x{301}|\\u00e9|\\xdf|\\t|\\!|\\/|\\-',
  'a{,2}b|l{2,}|x{1}|{|}|]',
  '(?i:[^a-mH])+|(?i:\\x48)',
  '(?>th|the)e?|[\\--/]+|[ -"]',
  '( ?)(\\p{L})\\2*',
];

describe('splits as the library does', () => {
  test.each(EXPRESSIONS)('%s', (regex) => {
    const rule = { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false };
    const library = new SequencePreTokenizer({ type: 'Sequence', pretokenizers: [rule] } as unknown as Rules);
    const pattern = compileReferenceRegex(regex);
    fc.assert(
      fc.property(plainText, (text) => {
        const pieces: string[] = [];
        let end = 0;
        for (const match of text.matchAll(pattern)) {
          pieces.push(text.slice(end, match.index), match[0]);
          end = match.index + match[0].length;
        }
        pieces.push(text.slice(end));
        expect(pieces.filter((piece) => piece !== '')).toEqual(library.pre_tokenize(text));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

const all = (regex: string, text: string) =>
  Array.from(text.matchAll(compileReferenceRegex(regex)), (match) => match[0]);

test('what the library has no translation for', () => {
  expect(all('(?i)ab', 'ab AB aB')).toEqual(['ab', 'AB', 'aB']);
  expect(all('a(?i)b|C', 'aB AB c')).toEqual(['aB', 'c']);
  expect(all('\\p{^L}+', 'a12b')).toEqual(['12']);
  expect(all('\\P{^L}+', 'a12b')).toEqual(['a', 'b']);
  expect(all('\\p{alnum}+', 'a12 b')).toEqual(['a12', 'b']);
  expect(all('[(){}/|!!&#]+', 'a(){}/|!!&#b')).toEqual(['(){}/|!!&#']);
  expect(all('[\\p{Nd}-z]+', '1-za')).toEqual(['1-z']);
  expect(all('(?i:[a-cX]+)', 'abCx d')).toEqual(['abCx']);
});

const DEEP = 100_000;

test.each([
  ['(', 'a group without an end at 1 in the expression ('],
  ['a)', 'an unmatched )'],
  ['[a', 'a class without an end'],
  ['[a&&]', 'an empty class'],
  ['*a', 'nothing to repeat'],
  ['(?m:a)', 'nothing to repeat'],
  ['\\', 'a lone backslash'],
  ['[[:nope:]]', 'the unknown class [:nope:]'],
  ['\\p{Nope}', 'the unknown property Nope'],
  ['((((', 'more than 200'],
  ['[[[[', 'more than 200'],
  ['\\R', 'Invalid escape'],
])('refused: %s', (regex, message) => {
  const deep = message === 'more than 200' ? regex.repeat(DEEP) : regex;
  const run = () => compileReferenceRegex(deep);
  expect(run).toThrow(SyntaxError);
  expect(run).toThrow(message);
});
