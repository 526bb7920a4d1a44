// Texts for property tests, built from pieces that reach the corner cases of tokenizers more often than random
// characters.

import fc from 'fast-check';
import { CONTROL } from './tiny_vocabulary';

export const SEED = 20_240_817;

const PIECES = [
  ...['the', 'Hello', ' ', '  ', '\n', '\r\n', '\t', 'x', '123', '.', '!!', "'s", '_', '<', '|', '>', '▁', '\0'],
  ...['é', 'e\u0301', 'ß', '文字', '한국', '\u1112\u1161\u11ab', 'हिन्दी', 'שלום', 'ไทย', '½', '٣', '\u0085', '\ufeff'],
  ...['🙂', '👍🏽', '👩‍👩‍👧', '❤️', '🇩🇪', '🇩', '\u200d', '\u3000', '\u2028', '\u{1F3F4}\u{E0067}\u{E007F}', '�'],
];

/** Text without control tokens. */
export const plainText = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 12 })
  .map((pieces) => pieces.join(''));

/** Text with whole and halved control tokens. */
export const mixedText = fc
  .array(fc.oneof(plainText, fc.constantFrom(...CONTROL, '<tool>', '\n\n', '<|', 'end|>', 'user|>')), { maxLength: 6 })
  .map((pieces) => pieces.join(''));
