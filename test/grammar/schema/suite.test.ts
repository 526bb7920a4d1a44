// The JSON Schema Test Suite (draft 2020-12): what it calls invalid is never taken, and what it calls valid is, but for
// what is written in fewer ways than a schema allows. Its cases of keywords that are not enforced are refused.

import { describe, expect, test } from 'vitest';
import { ConstraintError } from '../../../src/errors';
import type { Automaton } from '../../../src/grammar/automaton';
import { hasData, readText } from '../../text/fixtures';
import { compileSchema, takes } from '../documents';
import { inLine, orders } from './spelling';

const FOLDER = 'json_schema/tests/draft2020-12';
/** The files, and how many of their schemas are refused: by `false`, by another keyword, or by a name for a schema. */
const FILES: readonly [file: string, refused: number][] = [
  ['additionalProperties', 5],
  ['allOf', 3],
  ['anyOf', 2],
  ['boolean_schema', 1],
  ['const', 0],
  ['default', 0],
  ['enum', 1],
  ['exclusiveMaximum', 0],
  ['exclusiveMinimum', 0],
  ['items', 1],
  ['maxItems', 0],
  ['maxLength', 0],
  ['maximum', 0],
  ['minItems', 0],
  ['minLength', 0],
  ['minimum', 0],
  ['multipleOf', 4],
  ['pattern', 1],
  ['prefixItems', 0],
  ['properties', 1],
  ['ref', 19],
  ['required', 0],
  ['type', 0],
];

/** The formats, and how many texts that the suite calls valid are never written. */
const FORMATS: readonly [file: string, fewer: number][] = [
  ['date', 0],
  ['date-time', 4],
  ['duration', 1],
  ['email', 6],
  ['hostname', 17],
  ['ipv4', 0],
  ['ipv6', 4],
  ['time', 7],
  ['uri', 2],
  ['uri-reference', 1],
  ['uuid', 0],
];

interface Group {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

/** Null where the schema is refused. */
function compiled(schema: unknown, open: boolean): Automaton | null {
  try {
    return compileSchema(schema, { open });
  } catch (error) {
    if (error instanceof ConstraintError) return null;
    throw error;
  }
}

describe.skipIf(!hasData(FOLDER))('the test suite of JSON Schema (skipped without its files)', () => {
  test.each(FILES)('%s', (file, expected) => {
    let refused = 0;
    for (const { description, schema, tests } of JSON.parse(readText(`${FOLDER}/${file}.json`)) as Group[]) {
      const closed = compiled(schema, false);
      const open = compiled(schema, true);
      refused += open === null ? 1 : 0;
      for (const { description: what, data, valid } of tests) {
        const name = `${description}: ${what}`;
        const texts = orders(data).map(inLine);
        const isTaken = (automaton: Automaton | null) =>
          automaton !== null && texts.some((text) => takes(automaton, text));
        if (!valid) expect([name, isTaken(closed), isTaken(open)]).toEqual([name, false, false]);
        else if (open) expect([name, isTaken(open)]).toEqual([name, true]);
      }
    }
    expect(refused).toBe(expected);
  });

  // Fewer ways than the standards allow: no leap seconds, capital T and Z, nine digits of a second, and of addresses none
  // with quotes, with more than one dot before the @, or with an IP behind it; nine digits of a unit of a duration, no
  // IPv4 address within an IPv6 address, and of hosts none in Punycode, with two hyphens in a row or labels past 31 letters.
  test.each(FORMATS)('the format %s', (file, fewer) => {
    const left: string[] = [];
    for (const { schema, tests } of JSON.parse(readText(`${FOLDER}/optional/format/${file}.json`)) as Group[]) {
      const closed = compiled(schema, false);
      const open = compiled(schema, true);
      for (const { description, data, valid } of tests) {
        const isTaken = (automaton: Automaton | null) => automaton !== null && takes(automaton, inLine(data));
        if (!valid) expect([description, isTaken(closed), isTaken(open)]).toEqual([description, false, false]);
        else if (!isTaken(open)) left.push(description);
      }
    }
    expect([left.length, left]).toEqual([fewer, left]);
  });
});
