// Rules of tokenizer.json: every kind of the reference, with valid, invalid and hostile arguments.

import fc from 'fast-check';
import { NASTY_NAMES } from '../edges';

const junk = fc.oneof(
  fc.constantFrom<unknown>(...NASTY_NAMES, null, 0, -1, 1e308, true, [], {}),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Some take time that doubles with each character of a text. */
const patterns = fc.constantFrom(
  ...[
    '\\s+',
    ' ?\\p{L}+',
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}",
    '',
    '.',
    'a',
    '\\A(?! )',
    '$',
    '^',
    '\\b',
  ],
  ...[
    '(',
    '[',
    '\\',
    '(?<n>a)\\k<n>',
    '(?=a*)*',
    'a{1,4294967296}',
    '\\p{Nope}',
    '[^]',
    '(?<!a)b',
    '\\u{110000}',
    '(?i)a',
  ],
  ...['(a+)+$', '(a|a)*$', '(a*)*b', '(\\w+\\s?)*!$', '((a+)+)+!', '(.*.*)*=', '(?:x+x+)+y', '(a|b|ab)*c'],
);
/** Expressions that engines compile in many ways, in sequence. */
const composed = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'a',
        '.',
        '\\s',
        '\\p{L}',
        '\\P{L}',
        '[^\\s\\p{N}]',
        '(?:\\p{L}|\\p{N})',
        '(?=\\p{M})',
        '(?:a|\\S+)',
        '🙂',
      ),
      fc.constantFrom('', '', '?', '+', '*', '{3}', '{1,3}', '{2,900}', '|'),
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((pieces) => pieces.flat().join(''));
const pattern = fc.oneof(
  composed.map((Regex) => ({ Regex })),
  patterns.map((Regex) => ({ Regex })),
  fc.constantFrom('', ' ', 'a', '▁', '$&').map((literal) => ({ String: literal })),
  junk,
);
const record = (type: string, fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ type: fc.constant(type), ...fields }, { requiredKeys: ['type'] });
const flag = fc.oneof({ weight: 3, arbitrary: fc.boolean() as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: junk });
const text = fc.oneof(fc.constantFrom<unknown>('▁', ' ', '', 'a', '$1', 'aaaaaaaaaaaaaaaa'), junk);
const behavior = fc.constantFrom('Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous', 'Nope');
const count = fc.constantFrom<unknown>(0, 1, -1, 2 ** 32, 1e308, '1');

export const normalizers: fc.Arbitrary<unknown> = rules('normalizers', [
  ...['NFC', 'NFKC', 'NFD', 'NFKD', 'Lowercase', 'StripAccents', 'Nmt', 'ByteLevel', 'Nope'].map((type) =>
    record(type, {}),
  ),
  record('Replace', { pattern, content: text }),
  record('Prepend', { prepend: text }),
  record('Append', { append: text }),
  record('Strip', { strip_left: flag, strip_right: flag }),
  record('BertNormalizer', { clean_text: flag, handle_chinese_chars: flag, strip_accents: flag, lowercase: flag }),
  record('Precompiled', { precompiled_charsmap: text }),
]);

export const preTokenizers: fc.Arbitrary<unknown> = rules('pretokenizers', [
  ...['Whitespace', 'WhitespaceSplit', 'BertPreTokenizer', 'UnicodeScripts', 'Nope'].map((type) => record(type, {})),
  record('Split', { pattern, behavior, invert: flag }),
  record('ByteLevel', { add_prefix_space: flag, use_regex: flag }),
  record('Metaspace', { replacement: text, prepend_scheme: text, split: flag, add_prefix_space: flag }),
  record('Digits', { individual_digits: flag }),
  record('Punctuation', { behavior }),
  record('CharDelimiterSplit', { delimiter: text }),
  record('Replace', { pattern, content: text }),
  record('FixedLength', { length: fc.constantFrom<unknown>(1, 2, 2 ** 32, 1e308, 0, -1) }),
]);

export const decoders: fc.Arbitrary<unknown> = rules('decoders', [
  ...['ByteLevel', 'ByteFallback', 'Fuse', 'BPEDecoder', 'CTC', 'Nope'].map((type) => record(type, {})),
  record('Replace', { pattern, content: text }),
  record('Metaspace', { replacement: text, prepend_scheme: text, add_prefix_space: flag }),
  record('Strip', { content: text, start: count, stop: count }),
  record('WordPiece', { prefix: text, cleanup: flag }),
]);

const template = fc.array(
  fc.oneof(
    fc.constantFrom('<s>', '<|end|>', '__proto__').map((id): unknown => ({ SpecialToken: { id, type_id: 0 } })),
    fc.constant({ Sequence: { id: 'A', type_id: 0 } }),
    junk,
  ),
  { maxLength: 4 },
);
export const postProcessors: fc.Arbitrary<unknown> = rules('processors', [
  record('ByteLevel', {}),
  record('TemplateProcessing', {
    single: fc.oneof(template as fc.Arbitrary<unknown>, junk),
    special_tokens: fc.oneof(
      fc.dictionary(
        fc.constantFrom('<s>', '<|end|>', '__proto__'),
        fc.record({ ids: fc.array(count, { maxLength: 3 }) }),
      ) as fc.Arbitrary<unknown>,
      junk,
    ),
  }),
  record('BertProcessing', { cls: fc.oneof(fc.constant<unknown>(['<s>', 1]), junk), sep: junk }),
  record('RobertaProcessing', { cls: junk, sep: junk }),
]);

/** One rule, or a nested sequence of rules. */
function rules(list: string, kinds: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> {
  const { rule } = fc.letrec<{ rule: unknown }>((tie) => ({
    rule: fc.oneof(
      { maxDepth: 3 },
      ...kinds,
      fc.array(fc.oneof(tie('rule'), junk), { maxLength: 3 }).map((inner) => ({ type: 'Sequence', [list]: inner })),
      fc.array(tie('rule'), { maxLength: 3 }).map((inner) => ({ type: 'Sequence', [list]: inner })),
    ),
  }));
  return rule;
}
