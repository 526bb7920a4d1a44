// How much of an answer is forced: positions where the mask leaves one token, and tokens all of whose bytes are the only
// ones that may come.

import { allowedBytes, mayEnd, type Place, START, walkToken } from '../../../src/cpu/grammar';
import type { Layout } from '../../../src/grammar/schema/json_text';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { files, type Json } from '../../text/fixtures';
import { compileSchema } from '../documents';
import { inLine } from './spelling';

const text = { type: 'string' };
const object = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** Schemas as they are asked for, each with an answer as a model would write it. */
const ANSWERS: readonly [name: string, schema: unknown, answer: unknown][] = [
  [
    'a person',
    object({
      first_name: text,
      last_name: text,
      date_of_birth: { ...text, format: 'date' },
      is_active: { type: 'boolean' },
    }),
    { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1815-12-10', is_active: true },
  ],
  [
    'a call of a tool',
    object({
      location: text,
      unit: { enum: ['celsius', 'fahrenheit'] },
      number_of_days: { type: 'integer', minimum: 1, maximum: 14 },
    }),
    { location: 'Zurich, Switzerland', unit: 'celsius', number_of_days: 3 },
  ],
  [
    'an invoice',
    object({
      invoice_number: text,
      customer: object({ company_name: text, email_address: { ...text, format: 'email' } }),
      line_items: {
        type: 'array',
        items: object({ description: text, quantity: { type: 'integer' }, unit_price: { type: 'number' } }),
      },
      payment_status: { enum: ['paid', 'pending', 'overdue'] },
    }),
    {
      invoice_number: 'INV-2041',
      customer: { company_name: 'Blue Harbor Ltd', email_address: 'accounts@blueharbor.com' },
      line_items: [
        { description: 'Oak table, oiled', quantity: 1, unit_price: 499.5 },
        { description: 'Chair with a cushion', quantity: 6, unit_price: 89 },
      ],
      payment_status: 'pending',
    },
  ],
  [
    'a judgement',
    object({
      reasoning: text,
      sentiment: { enum: ['positive', 'negative', 'neutral'] },
      confidence: { type: 'number', minimum: 0, maximum: 1 },
    }),
    { reasoning: 'The guest praises the room twice and would come again.', sentiment: 'positive', confidence: 0.93 },
  ],
];

export interface ForcedCount {
  name: string;
  tokens: number;
  /** Positions where one token is allowed. */
  single: number;
  /** Tokens of bytes that are each the only one. */
  forced: number;
  /** Runs of such tokens. */
  runs: number;
}

/** @param json tokenizer.json */
export function countForced(json: Json, layout: Layout): ForcedCount[] {
  const tokenizer = createTokenizer(files({ tokenizerJson: json }));
  const vocabulary = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.tokenBytes(id));
  return ANSWERS.map(([name, schema, answer]) => {
    const automaton = compileSchema(schema, { layout });
    const count = { name, tokens: 0, single: 0, forced: 0, runs: 0 };
    const isOnly = (place: Place) => allowedBytes(automaton, place).length === 1 && !mayEnd(automaton, place);
    const isSingle = (place: Place) => {
      let ways = mayEnd(automaton, place) ? 1 : 0;
      const first = new Set(allowedBytes(automaton, place));
      for (const bytes of vocabulary) {
        if (first.has(bytes[0]) && walkToken(automaton, place, bytes)) ways++;
        if (ways > 1) return false;
      }
      return ways === 1;
    };
    let place: Place = START;
    let isInRun = false;
    for (const id of tokenizer.encode(inLine(answer), { addSpecialTokens: false })) {
      count.tokens++;
      if (isSingle(place)) count.single++;
      let isForced = true;
      for (const byte of vocabulary[id]) {
        isForced &&= isOnly(place);
        const next = walkToken(automaton, place, Uint8Array.of(byte));
        if (next === null) throw new Error(`the answer of ${name} does not fit`);
        place = next;
      }
      if (isForced) count.forced++;
      if (isForced && !isInRun) count.runs++;
      isInRun = isForced;
    }
    return count;
  });
}
