// Rules of GGUF files without the library, beside the same rules with it.

import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTokenizer, splitPipeline } from '../../../src/text/any_tokenizer';
import { createTextPipeline } from '../../../src/text/encode/pre_tokenizer';
import { regexCost } from '../../../src/text/encode/regex_cost';
import type { TextPipeline } from '../../../src/text/encode/text_pipeline';
import { PRE_TYPES } from '../../../src/text/vocabulary/gguf_pre_types';
import { ggufVocabulary } from '../../../src/text/vocabulary/gguf_vocabulary';
import { files } from '../fixtures';
import { byteLevelGguf, sentencePieceGguf } from '../tiny_vocabulary';

const TEXTS = [
  "It's WE'LL, they'Re I'M 3'D \u017f'\u017f don\u2019t",
  'HelloWorld XMLHttpRequest \u01c5ungla 12345 1,000.50 x\u00b2 \u2167 \u0663\u0664',
  ' \t\n\r\n  two\u0085lines\ufeff\u00a0and\u3000spaces   ',
  '\u4e2d\u6587\u304b\u306a\u30ab\u30bf\ud55c\uad6d\uc5b4 \u0939\u093f\u0928\u094d\u0926\u0940 \u0627\u0644\u0639\u0631\u0628\u064a\u0629\u060c \u0964',
  '<|end|> {"a": [1, -2]} // code\n\n\tif (x != y) { return; }',
  '\ud83d\ude42\ud83d\udc69\u200d\ud83d\ude80 e\u0301 \ud835\udd38 \ufffd',
];

const outcome = ({ normalize, words }: TextPipeline, text: string) => words(normalize?.(text) ?? text, true);

test('expressions without the library take a time in proportion to the text', () => {
  for (const { splits, isIntricate } of PRE_TYPES.values()) {
    if (!isIntricate) expect(splits.map(regexCost)).toEqual(splits.map(() => 'linear'));
  }
});

/** A clock that goes on by so many milliseconds whenever it is read. */
function clockOf(step: number) {
  let ms = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += step));
  onTestFinished(() => clock.mockRestore());
  return { passed: () => ms };
}

test('a long text passes on a machine ten times slower than a desktop', () => {
  const { words } = splitPipeline(PRE_TYPES.get('jais-2')!.splits);
  const clock = clockOf(22); // of the worst of the texts measured, per piece
  const text = '7 '.repeat(100_000);
  expect(words(text, true).join('')).toBe(text);
  expect(clock.passed()).toBeGreaterThan(4_000);
});

test.each([1_000, 1_000_000])('a slow expression ends in bounded time, over sections of %i characters', (length) => {
  const { words } = splitPipeline(['a*a*b']);
  const clock = clockOf(300);
  const section = 'c'.repeat(length);
  const sections = () => {
    for (let i = 0; i < 100; i++) words(section, i === 0);
  };
  for (const most of [3_000, 6_000]) {
    expect(sections).toThrow(`took too long to split ${length} characters`);
    expect(clock.passed()).toBeLessThan(most); // the next text has its own time
  }
});

test('the words of every kind of rules are those of the library', () => {
  const someText = fc.string({ unit: 'binary', maxLength: 40 });
  const seen = new Set<unknown>();
  for (const [name, rules] of PRE_TYPES) {
    if (seen.has(rules)) continue;
    seen.add(rules);
    const own = ggufVocabulary(byteLevelGguf(name)).pipeline;
    const library = splitPipeline(rules.splits);
    expect(own === null, name).toBe(rules.isIntricate);
    if (!own) continue;
    expect(own.byteLevel).toBe(library.byteLevel);
    for (const text of TEXTS) expect(outcome(own, text), name).toEqual(outcome(library, text));
    const equal = fc.property(someText, (text) => {
      expect(outcome(own, text)).toEqual(outcome(library, text));
    });
    fc.assert(equal, { numRuns: 20, seed: 1 });
  }
});

test.each([true, false])('marks for spaces are those of the library, with one in front: %s', (prefix) => {
  const own = ggufVocabulary(sentencePieceGguf().set('tokenizer.ggml.add_space_prefix', prefix)).pipeline;
  const marks = { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' };
  const before = prefix ? [{ type: 'Prepend', prepend: '\u2581' }] : [];
  const library = createTextPipeline({ type: 'Sequence', normalizers: [...before, marks] }, null);
  expect(own?.byteLevel).toBe(library.byteLevel);
  for (const text of TEXTS) expect(own && outcome(own, text)).toEqual(outcome(library, text));
});

test('a space before each text cuts no character in two', () => {
  const { words } = createTextPipeline(null, { type: 'ByteLevel', add_prefix_space: true, use_regex: true });
  expect(words('\ud83d\udc4d\ud83c\udffd \ud835\udd38\ud835\udd39 x', true)).toEqual([
    ' \ud83d\udc4d\ud83c\udffd',
    ' \ud835\udd38\ud835\udd39',
    ' x',
  ]);
  expect(words(' \ud83d\ude42', true)).toEqual([' \ud83d\ude42']);
  expect(words('$& \n', true)).toEqual([' $&', ' \n']);
});

test('the words of a Whitespace rule are those of Rust: joiners belong to them, fractions do not', () => {
  const { words } = createTextPipeline(null, { type: 'Whitespace' });
  expect(words('\u0915\u094d\u200d\u0937 a\u200cb\u00bdc x\u00b2_1!?', true)).toEqual([
    '\u0915\u094d\u200d\u0937',
    'a\u200cb',
    '\u00bd',
    'c',
    'x',
    '\u00b2',
    '_1',
    '!?',
  ]);
});

test.each([
  [
    'Unigram',
    { unk_id: 0, vocab: ['<unk>', 'a', '\u0120', '\u0120a', '\u00c3', '\u00a9'].map((text, i) => [text, -i]) },
  ],
  [
    'WordPiece',
    { unk_token: '<unk>', vocab: { '<unk>': 0, a: 1, '\u0120': 2, '\u0120a': 3, '##\u00c3': 4, '##\u00a9': 5 } },
  ],
])('a vocabulary of %s in the byte alphabet takes words in it', (type, model) => {
  const ByteLevel = { type: 'ByteLevel', add_prefix_space: false, use_regex: true };
  const json = { pre_tokenizer: ByteLevel, decoder: ByteLevel, model: { type, ...model } };
  const tokenizer = createTokenizer(files({ tokenizerJson: json }));
  const ids = tokenizer.encode('a a \u00e9');
  expect([...ids]).toEqual([1, 3, 2, 4, 5]);
});
