// A vocabulary of made-up words, and a constraint that no answer of a bench fulfills: for the speed of constrained
// answers.

import type { Constraint } from '../../../src/grammar/constraint';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { randomSource } from '../../../test/random';

/** A list so long that no answer comes to its end. */
export const LISTS: Constraint = {
  kind: 'json_schema',
  schema: {
    type: 'array',
    minItems: 200,
    items: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        price: { type: 'number' },
        kind: { enum: ['book', 'film', 'song'] },
        words: { type: 'array', items: { type: 'string' } },
      },
      required: ['name', 'price', 'kind', 'words'],
      additionalProperties: false,
    },
  },
};

const LETTERS = 'etaoinshrdlucmfwypvbgk';
const MARKS = ['"', '",', '":', ',', '{', '}', '[', ']', '0', '12', '.', ':', '", "', '"]', '}, {"', ' "'];
/** Of words that begin with a space, as most of a real vocabulary do, and of those with a mark behind them. */
const [SPACED, MARKED] = [0.5, 0.1];

/** The bytes of every id: each byte alone, then words of 2 to 9 letters. The last id ends an answer. */
function madeUpWords(vocabSize: number): Uint8Array[] {
  const next = randomSource(vocabSize);
  const pick = (from: string | readonly string[]) => from[Math.floor(next() * from.length)];
  const encoder = new TextEncoder();
  return Array.from({ length: vocabSize }, (_, id) => {
    if (id < 256) return Uint8Array.of(id);
    const letters = Array.from({ length: 2 + Math.floor(next() * 8) }, () => pick(LETTERS)).join('');
    return encoder.encode(`${next() < SPACED ? ' ' : ''}${letters}${next() < MARKED ? pick(MARKS) : ''}`);
  });
}

/** `tokenizer` with words, and with an id that ends an answer, which a constraint needs. */
export function withWords(tokenizer: Tokenizer): Tokenizer {
  const { vocabSize } = tokenizer;
  const words = madeUpWords(vocabSize);
  const end = vocabSize - 1;
  const decoder = new TextDecoder();
  const tokenText = (id: number) => (id === end ? '' : decoder.decode(words[id]));
  return {
    ...tokenizer,
    eosIds: [end],
    decode: (ids) => Array.from(ids, tokenText).join(''),
    tokenBytes: (id) => words[id],
    tokenText,
  };
}
