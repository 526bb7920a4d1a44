// Constraints that would take a lot: each one is refused with a typed error, or compiles within the bounds. Work is
// counted, so that the test needs no clock.

import { describe, expect, test } from 'vitest';
import { ConstraintError } from '../../../src/errors';
import type { Automaton } from '../../../src/grammar/automaton';
import { compileGrammar } from '../../../src/grammar/compile/compile';
import type { Grammar } from '../../../src/grammar/grammar';
import { Fuel, MAX_EDGES, MAX_SETS, MAX_STATES } from '../../../src/grammar/limits';
import { schemaGrammar } from '../../../src/grammar/schema/json_schema';
import { gbnfGrammar } from '../../../src/grammar/syntax/gbnf';
import { regexGrammar } from '../../../src/grammar/syntax/regex';

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: 'null' };
  for (let i = 0; i < depth; i++) schema = wrap(schema);
  return schema;
}
const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const properties = (n: number, make: (i: number) => unknown) =>
  Object.fromEntries(many(n, (i) => [`property_${i}`, make(i)]));

function circle(): unknown {
  const schema: Record<string, unknown> = { type: 'array' };
  schema.items = schema;
  return schema;
}

const SCHEMAS: readonly [name: string, schema: () => unknown][] = [
  ['arrays in arrays', () => nested(10_000, (items) => ({ type: 'array', items }))],
  ['anyOf in anyOf', () => nested(100, (inner) => ({ anyOf: [inner, { type: 'string' }] }))],
  ['an object that contains itself in memory', circle],
  ['a deep constant', () => ({ const: nested(5000, (inner) => [inner]) })],
  ['a long text', () => ({ const: 'a'.repeat(100_000) })],
  ['long names', () => ({ type: 'object', properties: { ['a'.repeat(60_000)]: true }, additionalProperties: true })],
  ['many properties', () => ({ type: 'object', properties: properties(2500, () => ({ type: 'null' })) })],
  [
    'many objects',
    () => ({ type: 'object', properties: properties(900, () => ({ type: 'object', properties: { a: true } })) }),
  ],
  [
    'many open objects',
    () => ({
      anyOf: many(200, (i) => ({ properties: properties(3, (k) => ({ const: i * k })), additionalProperties: true })),
    }),
  ],
  [
    'many alternatives that begin alike',
    () => ({
      anyOf: many(1000, (i) => ({ properties: { a: { $ref: '#/$defs/a' }, [`b${i}`]: { const: i } } })),
      $defs: { a: { type: 'array', items: { type: 'string' } } },
    }),
  ],
  ['a very long string', () => ({ type: 'string', minLength: 1e9 })],
  ['a string of a length without a bound', () => ({ type: 'string', maxLength: Number.MAX_SAFE_INTEGER })],
  ['a pattern with a very long length', () => ({ type: 'string', pattern: 'a.*b', minLength: 1e15 })],
  ['a pattern that remembers, with a length', () => ({ type: 'string', pattern: '(a|b)*a(a|b){16}', maxLength: 1e4 })],
  [
    'a pattern of many sets with a length',
    () => ({
      type: 'string',
      pattern: many(400, (i) => `[^${String.fromCodePoint(0x4e00 + 2 * i)}]`).join(''),
      maxLength: 5000,
    }),
  ],
  ['very many items', () => ({ type: 'array', minItems: 1e15 })],
  ['many items in many items', () => nested(6, (items) => ({ type: 'array', items, minItems: 100, maxItems: 200 }))],
  [
    'exponential references',
    () => ({
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        many(60, (i) => [
          `d${i}`,
          i === 59
            ? { type: 'null' }
            : {
                type: 'array',
                prefixItems: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }],
                minItems: 2,
              },
        ]),
      ),
    }),
  ],
  [
    'exponential alternatives',
    () => ({
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        many(40, (i) => [
          `d${i}`,
          i === 39
            ? { type: 'null' }
            : {
                anyOf: [
                  { type: 'array', prefixItems: [{ $ref: `#/$defs/d${i + 1}` }], items: true },
                  { type: 'array', prefixItems: [{ $ref: `#/$defs/d${i + 1}` }, false] },
                ],
              },
        ]),
      ),
    }),
  ],
  [
    'a long chain of references',
    () => ({
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        many(1500, (i) => [`d${i}`, i === 1499 ? { type: 'null' } : { $ref: `#/$defs/d${i + 1}` }]),
      ),
    }),
  ],
  [
    'a long chain of references backwards',
    () => ({
      $ref: '#/$defs/d1499',
      $defs: Object.fromEntries(
        many(1500, (i) => [`d${i}`, i === 0 ? { type: 'null' } : { $ref: `#/$defs/d${i - 1}` }]),
      ),
    }),
  ],
  [
    'alternatives that contain one another',
    () => ({
      $ref: '#/$defs/a',
      $defs: {
        a: { properties: { x: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } } },
        b: { properties: { x: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { type: 'null' }] } } },
      },
    }),
  ],
  ['an exponential pattern', () => ({ type: 'string', pattern: '(a|b)*a(a|b){25}$' })],
  ['an exponential pattern that is searched', () => ({ type: 'string', pattern: 'a.{30}b' })],
  ['repetitions of repetitions', () => ({ type: 'string', pattern: '^(((a{0,99}){0,99}){0,99}){0,99}$' })],
  [
    'many patterns',
    () => ({
      type: 'object',
      properties: properties(400, (i) => ({ pattern: `^[^${String.fromCodePoint(0x400 + i)}]{3,30}$` })),
    }),
  ],
  ['many values', () => ({ enum: many(9000, (i) => i * 7919) })],
  ['many values of texts', () => ({ enum: many(3000, (i) => `${(i * 7919) % 3001} value`) })],
];

const GRAMMARS: readonly [name: string, grammar: () => Grammar][] = [
  ['a regular expression', () => regexGrammar('(x+x+)+y(a|b)*a(a|b){18}')],
  ['classes of all letters', () => regexGrammar('(?:[^a]{0,200}[^b]){0,200}')],
  [
    'a chain of rules',
    () =>
      gbnfGrammar(
        many(3000, (i) => `${i === 0 ? 'root' : `r${i}`} ::= r${i + 1}?"a"`)
          .join('\n')
          .concat('\nr3000 ::= "b"'),
      ),
  ],
  [
    'a chain of rules that begin with one another',
    () => gbnfGrammar(`root ::= r0\n${many(3500, (i) => `r${i} ::= r${i + 1}`).join('\n')}\nr3500 ::= "b"`),
  ],
  [
    'a chain of rules that begin with one another, with an end of each',
    () => gbnfGrammar(`root ::= r0\n${many(2500, (i) => `r${i} ::= r${i + 1} "a"`).join('\n')}\nr2500 ::= .`),
  ],
  [
    'rules that all begin alike',
    () =>
      gbnfGrammar(
        `root ::= ${many(300, (i) => `r${i}`).join('|')}\n${many(300, (i) => `r${i} ::= [a-z]* "${i}"`).join('\n')}`,
      ),
  ],
  [
    'rules that end alike',
    () =>
      gbnfGrammar(
        many(300, (i) => `${i === 0 ? 'root' : `r${i}`} ::= "a"* r${i + 1}`)
          .join('\n')
          .concat('\nr300 ::= "a"*'),
      ),
  ],
];

describe('sets of letters', () => {
  const sets = (n: number) => many(n, (i) => `[^${String.fromCodePoint(0x4e00 + 2 * i)}]`);

  test('4,000 different ones are refused early, with the bound', () => {
    const fuel = new Fuel();
    expect(() => regexGrammar(sets(4000).join(''), fuel)).toThrow(
      /^The constraint has more than 1024 different sets of letters\. Use fewer of them\.$/,
    );
    expect(fuel.used).toBeLessThan(1_000_000);
  });

  test('as many as the bound are none too many, again and again, and ranges do not count', () => {
    expect(MAX_SETS).toBe(1024);
    const letters = many(5000, (i) => String.fromCodePoint(0x4e00 + i)).join('');
    expect(() => regexGrammar(sets(MAX_SETS).join('').repeat(2) + letters)).not.toThrow();
    expect(() => regexGrammar(sets(MAX_SETS + 1).join(''))).toThrow(ConstraintError);
  });
});

function expectBounded(grammar: () => Grammar): void {
  const fuel = new Fuel();
  let automaton: Automaton | null = null;
  try {
    automaton = compileGrammar(grammar(), fuel);
  } catch (error) {
    expect(error).toBeInstanceOf(ConstraintError);
  }
  if (automaton === null) return;
  expect(automaton.nStates).toBeLessThanOrEqual(MAX_STATES);
  expect(automaton.edges.length).toBeLessThanOrEqual(MAX_EDGES);
}

describe('schemas', () => {
  test.each(SCHEMAS)('%s', (_, schema) => {
    expectBounded(() => schemaGrammar(schema()).grammar);
  });
});

describe('grammars', () => {
  test.each(GRAMMARS)('%s', (_, grammar) => {
    expectBounded(grammar);
  });
});
