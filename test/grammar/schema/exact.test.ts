// Schemas read as open take exactly what ajv calls valid: documents of random schemas with changed parts, in every order of
// their keys.

import { Ajv2020 } from 'ajv/dist/2020';
import { expect, test } from 'vitest';
import { ConstraintError } from '../../../src/errors';
import type { Automaton } from '../../../src/grammar/automaton';
import { randomSource } from '../../random';
import { compileSchema, documentSource, takes } from '../documents';
import { randomSchema } from './random_schema';
import { inLine, orders } from './spelling';

const LEAVES = [
  null,
  true,
  0,
  -1,
  1,
  2.5,
  17,
  1e6,
  '',
  'a',
  'abc',
  'x"y',
  'ä',
  '2024-02-29',
  [],
  {},
  [1, 'a'],
  { a: [null] },
];

/** The document with one value changed, left out or put in. */
function changed(value: unknown, random: () => number): unknown {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)];
  if (Array.isArray(value) && value.length > 0 && random() < 0.8) {
    const at = Math.floor(random() * value.length);
    if (random() < 0.3) return value.toSpliced(at, 1);
    return random() < 0.3 ? value.toSpliced(at, 0, pick(LEAVES)) : value.with(at, changed(value[at], random));
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && random() < 0.8) {
    const entries = Object.entries(value);
    const [key, inner] = pick(entries);
    const rest = entries.filter(([name]) => name !== key);
    if (random() < 0.3) return Object.fromEntries(rest);
    if (random() < 0.3) return Object.fromEntries([...entries, [pick(['a', 'name', 'new', '']), pick(LEAVES)]]);
    return Object.fromEntries([...rest, [key, changed(inner, random)]]);
  }
  return pick(LEAVES);
}

/** Few keys, no index, which every object writes first, and no number that JSON.stringify writes with an exponent. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return /^-?\d{1,9}(\.\d{1,5})?$/.test(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return true;
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return keys.length < 5 && !keys.includes('0') && Object.values(value).every(isPlain);
}

const compiled = (schema: unknown): Automaton | null => {
  try {
    return compileSchema(schema, { open: true });
  } catch (error) {
    if (error instanceof ConstraintError) return null;
    throw error;
  }
};

test('an automaton takes a document exactly where it is valid', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const counts = { valid: 0, invalid: 0 };
  for (let seed = 500; seed < 620; seed++) {
    const random = randomSource(seed);
    const schema = randomSchema(random);
    const automaton = JSON.stringify(schema).includes('"format"') ? null : compiled(schema);
    if (automaton === null) continue;
    const isValid = ajv.compile(schema);
    const draw = documentSource(automaton, random);
    for (let i = 0; i < 12; i++) {
      const drawn: unknown = JSON.parse(draw());
      const value = i % 4 === 0 ? drawn : changed(drawn, random);
      const texts = isPlain(value) ? orders(value).slice(0, 200).map(inLine) : [];
      if (texts.length === 0 || texts.length === 200) continue;
      const valid = isValid(value);
      counts[valid ? 'valid' : 'invalid']++;
      expect([seed, texts[0], texts.some((text) => takes(automaton, text))]).toEqual([seed, texts[0], valid]);
    }
  }
  expect(counts.valid).toBeGreaterThan(100);
  expect(counts.invalid).toBeGreaterThan(100);
});
