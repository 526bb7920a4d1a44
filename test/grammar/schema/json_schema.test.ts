// What each keyword of a schema lets through, by hand, and which keywords are refused.

import { describe, expect, test } from 'vitest';
import { ConstraintError } from '../../../src/errors';
import { compileGrammar } from '../../../src/grammar/compile/compile';
import { jsonObjectGrammar, schemaGrammar } from '../../../src/grammar/schema/json_schema';
import { compileSchema, takes } from '../documents';

const closed = { additionalProperties: false };

/** Schema, documents that fit, documents that do not. */
const CASES: readonly [name: string, schema: unknown, fit: readonly string[], unfit: readonly string[]][] = [
  ['null', { type: 'null' }, ['null'], ['nul', 'true', '']],
  ['boolean', { type: 'boolean' }, ['true', 'false'], ['null', 'True', ' true']],
  ['integer', { type: 'integer' }, ['0', '-1', '999999999999999'], ['-0', '01', '1.0', '1e2', '1000000000000000', '-']],
  ['number', { type: 'number' }, ['0', '-0', '-1.5', '1e5', '0.25E-12'], ['.5', '1.', '1e', '1e999', '+1', 'NaN']],
  [
    'string',
    { type: 'string' },
    ['""', '"a\u00e4\u{1f600}"', '"\\n\\u0041\\ud83d\\ude00"', '"\x7f"'],
    ['"', '"\n"', '"\\x"', '"\\ud83d"', '"\\ude00"'],
  ],
  [
    'lengths',
    { type: 'string', minLength: 1, maxLength: 2 },
    ['"a"', '"\u{1f600}\\n"', '"\\ud83d\\ude00b"'],
    ['""', '"abc"'],
  ],
  ['list of types', { type: ['integer', 'null', 'string'] }, ['1', 'null', '"1"'], ['true', '1.5']],
  ['integer beside number', { type: ['integer', 'number'] }, ['1', '1.5'], ['"1"']],
  [
    'enum',
    { enum: ['red', 'green', 1, null, true] },
    ['"red"', '"green"', '1', 'null', 'true'],
    ['"re"', '"blue"', '11'],
  ],
  ['enum and type', { type: 'string', enum: ['a', null] }, ['"a"'], ['null']],
  ['const', { const: { a: [1, 'x"y'], b: {} } }, ['{"a": [1, "x\\"y"], "b": {}}'], ['{"a": [1, "x\\"y"]}', '{}']],
  [
    'anyOf',
    { anyOf: [{ type: 'string' }, { enum: ['ab', 3] }, { type: 'integer' }, { type: 'number' }] },
    ['"ab"', '"b"', '3', '4', '4.5'],
    ['true'],
  ],
  [
    'anyOf with anything',
    { anyOf: [{ $ref: '#/$defs/a' }, { title: 'x' }], $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } } },
    ['[[]]', '1', '[[{}]]'],
    [''],
  ],
  [
    'anyOf of objects',
    {
      anyOf: ['x', 'y'].map((kind) => ({
        type: 'object',
        properties: { kind: { const: kind }, [kind]: { type: 'integer' } },
        required: ['kind', kind],
        ...closed,
      })),
    },
    ['{"kind": "x", "x": 1}', '{"kind": "y", "y": 1}'],
    ['{"kind": "x", "y": 1}', '{"kind": "z"}'],
  ],
  [
    'required and optional',
    {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'null' }, c: { type: 'boolean' } },
      required: ['b'],
      ...closed,
    },
    ['{"b": null}', '{"a": 1, "b": null}', '{"b": null, "c": true}', '{"a": 0, "b": null, "c": false}'],
    ['{}', '{"a": 1}', '{"b": null, "a": 1}', '{"b": null,}', '{"b": null, "d": 1}'],
  ],
  ['no property at all', { type: 'object', properties: {}, ...closed }, ['{}'], ['{"a": 1}', '[]']],
  ['any object', { type: 'object' }, ['{}', '{"a": {"b": [1, "x", null]}}'], ['[]', '{"a"}', '{1: 2}']],
  [
    'other properties',
    {
      type: 'object',
      properties: { ab: { type: 'null' } },
      additionalProperties: { type: 'integer' },
    },
    ['{}', '{"ab": null}', '{"a": 1}', '{"abc": 1, "": 2}', '{"ab": null, "\u00e4": 3}', '{"\\n": 1}'],
    ['{"ab": 1}', '{"a": null}', '{"\\u0061b": 1}', '{"a": 1, "ab": null}'],
  ],
  [
    'a record',
    { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'integer' } },
    ['{}', '{"\\u0061": 1, "b": 2}'],
    ['{"a": "b"}'],
  ],
  ['names of any kind', { type: 'object', propertyNames: true, properties: {} }, ['{}', '{"a": 1}'], ['[]']],
  [
    'a record over an enum',
    {
      type: 'object',
      propertyNames: { type: 'string', enum: ['x', 'y'] },
      additionalProperties: { type: 'integer' },
      required: ['x'],
    },
    ['{"x": 1}', '{"x": 1, "y": 2}'],
    ['{}', '{"y": 1}', '{"x": 1, "z": 2}', '{"x": "1"}'],
  ],
  [
    'listed names beside described ones',
    { type: 'object', properties: { a: { type: 'null' } }, propertyNames: { enum: ['a', 'b'] } },
    ['{}', '{"a": null}', '{"a": null, "b": [1]}'],
    ['{"a": 1}', '{"c": 1}'],
  ],
  [
    'listed names that nothing fits',
    { type: 'object', propertyNames: { enum: ['a'] }, additionalProperties: false },
    ['{}'],
    ['{"a": 1}', '{"a": null}'],
  ],
  ['a required name without a schema', { type: 'object', required: ['x'] }, ['{"x": [1]}'], ['{}', '{"y": 1}']],
  [
    'names of every object',
    JSON.parse('{"type": "object", "properties": {"__proto__": {"type": "null"}, "constructor": {"type": "null"}}}'),
    ['{}', '{"__proto__": null}', '{"__proto__": null, "constructor": null}'],
    ['{"toString": null}'],
  ],
  [
    'items',
    { type: 'array', items: { type: 'integer' } },
    ['[]', '[1]', '[1, 2, 3]'],
    ['[1,2]', '["a"]', '[1, ]', '[1'],
  ],
  [
    'numbers of items',
    { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
    ['[1, 2]', '[1, 2, 3]'],
    ['[]', '[1]', '[1, 2, 3, 4]'],
  ],
  ['at most no item', { type: 'array', items: { type: 'integer' }, maxItems: 0 }, ['[]'], ['[1]']],
  [
    'prefixItems',
    { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'null' }], items: { type: 'boolean' }, minItems: 1 },
    ['[1]', '[1, null]', '[1, null, true, false]'],
    ['[]', '[null]', '[1, true]'],
  ],
  [
    'a tuple of draft 7',
    {
      type: 'array',
      items: [{ type: 'integer' }, { type: 'null' }],
      additionalItems: { type: 'boolean' },
      minItems: 1,
    },
    ['[1]', '[1, null]', '[1, null, true]'],
    ['[]', '["a"]', '[1, true]', '[1, null, 2]'],
  ],
  [
    'a tuple of draft 7, closed, and a pointer into it',
    {
      type: 'object',
      properties: {
        a: { type: 'array', items: [{ type: 'integer' }], additionalItems: false },
        b: { $ref: '#/properties/a/items/0' },
      },
      required: ['a', 'b'],
      ...closed,
    },
    ['{"a": [1], "b": 2}', '{"a": [], "b": 2}'],
    ['{"a": [1, 2], "b": 2}', '{"a": [1], "b": "x"}'],
  ],
  [
    'additionalItems beside one schema for all, which says nothing',
    { type: 'array', items: { type: 'integer' }, additionalItems: false },
    ['[]', '[1, 2]'],
    ['["a"]'],
  ],
  [
    'what a text holds, as zod writes it for base64',
    { type: 'string', pattern: '^[A-Z]{2}$', contentEncoding: 'base64', contentMediaType: 'image/png' },
    ['"AB"'],
    ['"A"'],
  ],
  [
    'prefixItems alone',
    { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'null' }] },
    ['[]', '[1]', '[1, null]'],
    ['[1, null, 1]'],
  ],
  [
    'prefixItems and more',
    { type: 'array', prefixItems: [{ type: 'integer' }], minItems: 3, maxItems: 3 },
    ['[1, "a", {}]'],
    ['[1]', '[1, 2]', '[1, 2, 3, 4]'],
  ],
  [
    'prefixItems cut short',
    { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'null' }], items: true, maxItems: 1 },
    ['[]', '[1]'],
    ['[1, null]'],
  ],
  [
    'bounds',
    { type: 'integer', minimum: -2, exclusiveMaximum: 11 },
    ['-2', '-1', '0', '9', '10'],
    ['-3', '11', '100', '-0'],
  ],
  [
    'a share',
    { type: 'number', minimum: 0, maximum: 1 },
    ['0', '1', '0.5', '1.000', '0.00'],
    ['1.01', '-0.5', '2', '-0', '1e0'],
  ],
  [
    'numbers',
    { type: 'number', exclusiveMinimum: -2.5, exclusiveMaximum: 10.25 },
    ['-2.4', '-2.49999', '0', '9.99', '10.2', '10', '10.249'],
    ['-2.5', '-2.50', '10.25', '11', '100', '-3'],
  ],
  [
    'a least number',
    { type: 'number', minimum: 1234.5 },
    ['1234.5', '1234.51', '1235', '99999', '123456789012345'],
    ['1234.4', '1234', '999', '-5000'],
  ],
  [
    'two bounds on one side',
    { type: 'number', minimum: 1, exclusiveMinimum: 1, maximum: 3, exclusiveMaximum: 4 },
    ['1.1', '3'],
    ['1', '3.1'],
  ],
  [
    'multiples',
    { type: 'integer', multipleOf: 7 },
    ['0', '7', '-14', '105', '999999999999994', '-7000000'],
    ['1', '15', '-7.0', '07', '-0', '999999999999993', '1000000000000006'],
  ],
  [
    'multiples between bounds',
    { type: 'integer', multipleOf: 25, minimum: -60, exclusiveMaximum: 1025 },
    ['-50', '-25', '0', '25', '975', '1000'],
    ['-75', '-60', '1025', '1', '5000', '10000'],
  ],
  ['multiples as numbers', { type: 'number', multipleOf: 1000, minimum: 1 }, ['1000', '12000'], ['0', '100', '1000.5']],
  ['multiples of a prime', { multipleOf: 997, minimum: 0, maximum: 1e6 }, ['0', '99700'], ['996', '9971', '-997']],
  ['bounds that are not whole', { type: 'integer', minimum: 0.5, maximum: 1.5 }, ['1'], ['0', '2']],
  ['pattern', { type: 'string', pattern: '^[a-c"\\n]+$' }, ['"abc"', '"\\""', '"\\n"'], ['""', '"d"', '"\\u0061"']],
  ['pattern anywhere', { type: 'string', pattern: 'b.d' }, ['"abcde"', '"bbd"', '"b\u00e4d"'], ['"bd"', '"abc"']],
  [
    'pattern and length',
    { type: 'string', pattern: '^[a-c"\\n]+$', minLength: 2, maxLength: 3 },
    ['"ab"', '"abc"', '"\\"\\n"', '"\\n\\n\\n"'],
    ['"a"', '"abca"', '"\\n"', '"ad"', '""', '"ab\\n\\n"'],
  ],
  [
    'pattern anywhere and length, counted in code points',
    { type: 'string', pattern: '\u{1f431}', maxLength: 2 },
    ['"\u{1f431}"', '"\u{1f431}\u{1f431}"', '"\u00e4\u{1f431}"', '"\u{1f431}\\\\"'],
    ['""', '"ab"', '"ab\u{1f431}"'],
  ],
  [
    'pattern and a least length',
    { type: 'string', pattern: '^a*b$', minLength: 3 },
    ['"aab"', '"aaaaab"'],
    ['"ab"', '"b"', '"aaa"'],
  ],
  [
    'pattern or empty, and a length',
    { type: 'string', pattern: '^a?$|^bbb$', maxLength: 2 },
    ['""', '"a"'],
    ['"bbb"', '"b"'],
  ],
  [
    'format and length',
    { type: 'string', format: 'uri', minLength: 6, maxLength: 8 },
    ['"urn:abc"', '"http://a"'],
    ['"urn:a"', '"http://ab"'],
  ],
  [
    'pattern of one part and length of another',
    { allOf: [{ type: 'string', pattern: '^a' }, { maxLength: 2 }] },
    ['"a"', '"ab"'],
    ['"abc"', '"b"', '""'],
  ],
  [
    'uri',
    { type: 'string', format: 'uri' },
    ['"https://example.org:8080/a/b?c=%20d#e"', '"mailto:a@b.c"', '"urn:a:b"'],
    ['"//example.org"', '"http://a b"', '"a"', '"http://a/%2"', '"1a:b"', '"a:///b"', '""'],
  ],
  [
    'uri-reference',
    { type: 'string', format: 'uri-reference' },
    ['""', '"#a"', '"a/b:c"', '"/a"', '"//a/b"', '"?a"', '"http://a"', '"a:b"'],
    ['"1:b"', '"/a b"', '"\\\\a"', '"a#b#c"'],
  ],
  [
    'date',
    { type: 'string', format: 'date' },
    ['"2024-02-29"', '"2000-02-29"', '"1999-12-31"'],
    ['"2023-02-29"', '"1900-02-29"', '"1999-04-31"', '"1999-13-01"'],
  ],
  [
    'date-time',
    { type: 'string', format: 'date-time' },
    ['"2024-02-29T23:59:59Z"', '"2024-01-01T00:00:00.5+02:00"'],
    ['"2024-01-01"', '"2024-01-01T24:00:00Z"'],
  ],
  [
    'uuid',
    { type: 'string', format: 'uuid' },
    ['"123e4567-e89b-12d3-a456-426614174000"'],
    ['"123e4567e89b12d3a456426614174000"'],
  ],
  [
    'email',
    { type: 'string', format: 'email' },
    ['"a.b+c@x-y.example.org"'],
    ['"a"', '"@b.c"', '"a@-b.c"', '"a b@c.d"'],
  ],
  [
    'hostname',
    { type: 'string', format: 'hostname' },
    ['"localhost"', '"a-b.example.org"', '"1.a"'],
    ['""', '"a."', '".a"', '"-a"', '"a-"', '"a..b"', '"a_b"', '"a b"', '"a.b.c.d.e.f.g.h"'],
  ],
  [
    'ipv4',
    { type: 'string', format: 'ipv4' },
    ['"0.0.0.0"', '"255.255.255.255"', '"127.0.10.199"'],
    ['"256.0.0.1"', '"1.2.3"', '"1.2.3.4.5"', '"01.2.3.4"', '"1.2.3.4 "'],
  ],
  [
    'ipv6',
    { type: 'string', format: 'ipv6' },
    [
      '"::"',
      '"::1"',
      '"1::"',
      '"2001:db8::8a2e:370:7334"',
      '"1:2:3:4:5:6:7:8"',
      '"1:2:3:4:5:6:7::"',
      '"::2:3:4:5:6:7:8"',
    ],
    [
      '""',
      '":"',
      '"1"',
      '"1:2"',
      '"1::2::3"',
      '"1:2:3:4:5:6:7"',
      '"1:2:3:4:5:6:7:8:9"',
      '"12345::"',
      '":::"',
      '"1:::2"',
      '"g::"',
    ],
  ],
  [
    'duration',
    { type: 'string', format: 'duration' },
    ['"P1Y2M3DT4H5M6S"', '"PT36H"', '"P4W"', '"P1Y"', '"PT0S"', '"P1DT12H"', '"P1M"', '"PT1M"'],
    ['"P"', '"PT"', '"P1"', '"1D"', '"P1S"', '"P1D2H"', '"P1Y2D"', '"PT1H2S"', '"P1WT1H"', '"P1.5D"'],
  ],
  [
    'references',
    {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
          required: ['value', 'children'],
          ...closed,
        },
      },
    },
    ['{"value": 1, "children": []}', '{"value": 1, "children": [{"value": 2, "children": []}]}'],
    ['{"value": 1}', '{"value": 1, "children": [1]}'],
  ],
  [
    'a reference in any spelling',
    { $defs: { 'a/b~c d': { type: 'null' } }, $ref: '#/$defs/a~1b~0c%20d' },
    ['null'],
    ['1'],
  ],
  [
    'the types that keywords are about',
    { properties: { a: { minLength: 1 } } },
    ['{}', '{"a": "b"}'],
    ['1', '{"a": ""}', '{"a": 1}'],
  ],
  [
    'allOf of a reference, as pydantic writes it',
    {
      type: 'object',
      properties: { a: { allOf: [{ $ref: '#/$defs/one' }], description: 'An a.', default: {} } },
      $defs: {
        one: { type: 'object', properties: { next: { allOf: [{ $ref: '#/$defs/one' }] }, x: { type: 'integer' } } },
      },
    },
    ['{}', '{"a": {"x": 1}}', '{"a": {"next": {"next": {"x": 1}}}}'],
    ['{"a": 1}', '{"a": {"next": 2}}'],
  ],
  [
    'allOf that adds properties to a base',
    {
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'null' } }, required: ['b'] }],
      properties: { c: { type: 'array', items: { $ref: '#' } }, a: { minimum: 2 } },
      required: ['a'],
      $defs: { base: { title: 'Base', type: 'object', properties: { a: { type: 'integer', maximum: 3 } } } },
    },
    ['{"a": 2, "b": null}', '{"a": 3, "b": null, "c": [{"a": 2, "b": null}]}'],
    ['{"a": 1, "b": null}', '{"a": 4, "b": null}', '{"b": null}', '{"a": 2}', '[]'],
  ],
  [
    'allOf of bounds and anything',
    { allOf: [{ type: 'integer' }, { allOf: [{ type: 'integer', maximum: 9 }, true] }], minimum: 2 },
    ['2', '9'],
    ['1', '10', '2.5', 'null', '"a"'],
  ],
  [
    'allOf with a property of any name',
    { allOf: [JSON.parse('{"properties": {"__proto__": {"type": "null"}}}'), { properties: { b: { type: 'null' } } }] },
    ['{"__proto__": null, "b": null}'],
    ['{"__proto__": 1}'],
  ],
  ['false', { type: 'object', properties: { a: false, b: true }, ...closed }, ['{}', '{"b": [null]}'], ['{"a": 1}']],
];

test.each(CASES)('%s', (_, schema, fit, unfit) => {
  const automaton = compileSchema(schema);
  expect(fit.filter((text) => !takes(automaton, text))).toEqual([]);
  expect(unfit.filter((text) => takes(automaton, text))).toEqual([]);
});

describe('white space', () => {
  const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'integer' } } }, required: ['a'] };

  test('is free between the parts, and bounded', () => {
    const automaton = compileSchema(schema, { layout: 'free' });
    const fit = ['{"a":[1,2]}', '{ "a": [ 1, 2 ] }', JSON.stringify({ a: [1, 2] }, null, 2), '{\n\n\t"a": []}'];
    expect(fit.filter((text) => !takes(automaton, text))).toEqual([]);
    const unfit = [
      ' {"a":[]}',
      '{"a":[]} ',
      '{  "a":[]}',
      '{\n\n\n"a":[]}',
      `{\n${' '.repeat(33)}"a":[]}`,
      '{"a" :[]}',
    ];
    expect(unfit.filter((text) => takes(automaton, text))).toEqual([]);
  });

  test('of an empty object and list comes once', () => {
    const automaton = compileSchema({ type: 'array', items: { type: 'object', properties: {} } }, { layout: 'free' });
    expect(['[]', '[ ]', '[{}]', '[\n  { }\n]'].filter((text) => !takes(automaton, text))).toEqual([]);
    expect(['[  ]', '[{  }]'].filter((text) => takes(automaton, text))).toEqual([]);
  });

  test('of any JSON object', () => {
    const automaton = compileGrammar(jsonObjectGrammar());
    const value = { a: [1, -2.5e3, 'x\n', null, true, {}, []], b: { c: { d: '' } } };
    expect(takes(automaton, JSON.stringify(value))).toBe(true);
    expect(takes(automaton, JSON.stringify(value, null, 2))).toBe(true);
    expect(takes(automaton, '[]')).toBe(false);
  });
});

describe('refused', () => {
  test.each([
    ['not', { not: { type: 'null' } }],
    [
      'additionalProperties',
      { allOf: [{ properties: { a: true }, additionalProperties: false }, { properties: { b: true } }] },
    ],
    ['items', { allOf: [{ items: { type: 'null' } }, { prefixItems: [true] }] }],
    ['type', { allOf: [{ type: 'number' }, { type: 'integer' }] }],
    ['pattern', { allOf: [{ pattern: 'a' }, { pattern: 'b' }] }],
    ['type', { allOf: [{ anyOf: [{ type: 'null' }] }, { type: 'object' }] }],
    ['if', { if: true }],
    ['minProperties', { type: 'object', minProperties: 1 }],
    ['patternProperties', { type: 'object', patternProperties: {} }],
    ['propertyNames', { type: 'object', propertyNames: { minLength: 2 } }],
    ['propertyNames', { type: 'object', propertyNames: false }],
    ['propertyNames', { type: 'object', propertyNames: null }],
    ['propertyNames', { type: 'object', propertyNames: { enum: ['a', 1] } }],
    ['propertyNames', { type: 'object', propertyNames: { enum: ['a'] }, required: ['b'] }],
    ['propertyNames', { type: 'object', propertyNames: { enum: ['a'] }, properties: { b: true } }],
    ['prefixItems', { type: 'array', items: [true], prefixItems: [true] }],
    ['uniqueItems', { type: 'array', uniqueItems: true }],
    ['contains', { type: 'array', contains: true }],
    ['$dynamicRef', { $dynamicRef: '#' }],
    ['$id', { type: 'array', items: { $id: 'http://example.org', type: 'null' } }],
    ['properties', { anyOf: [true], properties: {} }],
    ['minLength', { enum: ['a'], minLength: 2 }],
    ['type', { $ref: '#/$defs/a', type: 'string', $defs: { a: true } }],
  ])('%s, by name', (keyword, schema) => {
    const error = caught(() => schemaGrammar(schema));
    expect(error).toMatchObject({ code: 'constraint', keyword, canRetry: false });
    expect(error.message).toContain(JSON.stringify(keyword));
  });

  test('with the place in the schema', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: { not: true } } } };
    expect(caught(() => schemaGrammar(schema)).where).toBe('#/properties/a/items');
  });

  test.each([
    ['no schema', 3],
    ['a number that JSON has not', { const: 1n }],
    ['a function', () => true],
    [
      'a getter that throws',
      { properties: Object.defineProperty({}, 'a', { enumerable: true, get: () => caught(() => 0) }) },
    ],
    ['an unknown type', { type: 'text' }],
    ['no types', { type: [] }],
    ['allOf that is no list', { allOf: 3 }],
    ['allOf of nothing', { allOf: [] }],
    ['allOf of no schemas', { allOf: [{ type: 'null' }, 3] }],
    ['an enum that is no list', { enum: 'a' }],
    ['required that is no list', { type: 'object', required: 'a' }],
    ['properties that are a list', { type: 'object', properties: [] }],
    ['a length below zero', { type: 'string', minLength: -1 }],
    ['a length that is not whole', { type: 'string', maxLength: 1.5 }],
    ['a multipleOf that is not whole', { type: 'number', multipleOf: 0.5 }],
    ['a multipleOf of zero', { type: 'integer', multipleOf: 0 }],
    ['a multipleOf that is too large', { type: 'integer', multipleOf: 1001 }],
    ['multiples that take too many states', { type: 'integer', multipleOf: 997 }],
    ['no multiple between the bounds', { type: 'integer', multipleOf: 7, minimum: 1, maximum: 6 }],
    ['an unknown format', { type: 'string', format: 'iri' }],
    ['a broken pattern', { type: 'string', pattern: '(' }],
    ['a reference to nothing', { $ref: '#/$defs/a' }],
    ['a reference elsewhere', { $ref: 'http://example.org/a.json' }],
    ['a reference to a built-in', { $ref: '#/constructor' }],
    ['a reference to itself', { $ref: '#' }],
    ['false', false],
    ['an empty enum', { enum: [] }],
    ['more items than it may have', { type: 'array', minItems: 2, maxItems: 1 }],
    ['all of nothing', { allOf: [{ type: 'string' }, false] }],
    ['all of itself', { allOf: [{ $ref: '#' }, { type: 'null' }] }],
    ['itself without an end', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
  ])('%s', (_, schema) => {
    expect(caught(() => compileSchema(schema))).toBeInstanceOf(ConstraintError);
  });

  test('an unknown type is told which there are', () => {
    const type = `The type of the schema's "#" is not one of object, array, string, integer, number, boolean, null.`;
    expect(() => compileSchema({ type: 'text' })).toThrow(type);
  });

  test('a format beside a pattern is said to be left to it, also one that is not known', () => {
    for (const format of ['date', 'cuid']) {
      const schema = { type: 'object', properties: { a: { type: 'string', format, pattern: '^[a-c]$' } } };
      expect(schemaGrammar(schema).warnings).toEqual([expect.stringContaining('format of "#/properties/a"')]);
      const automaton = compileSchema(schema);
      expect(['{"a": "b"}', '{"a": "d"}'].map((text) => takes(automaton, text))).toEqual([true, false]);
    }
  });

  test('oneOf is said to be anyOf', () => {
    const { warnings } = schemaGrammar({ type: 'array', items: { oneOf: [{ type: 'null' }, { type: 'boolean' }] } });
    expect(warnings).toEqual([expect.stringContaining('oneOf of "#/items"')]);
  });
});

function caught(run: () => unknown): ConstraintError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConstraintError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a pattern beside a length takes exactly the texts that both take', () => {
  const LETTERS = ['a', 'b', '"', '\n', 'é', '\u{1f431}'];
  const texts = [''];
  for (const text of texts) if ([...text].length < 4) texts.push(...LETTERS.map((letter) => text + letter));
  test.each(['^a*b?$', 'b', '^(ab|ba)*$|^"', '^(?:[^a]a?)+$', '^.{2}', '', '(a|b)*a(a|b)$', '^[]$', '\\n.?\u{1f431}'])(
    '%s',
    (pattern) => {
      for (const [minLength, maxLength] of [
        [0, 2],
        [2, undefined],
        [1, 3],
        [3, 3],
        [0, 0],
      ]) {
        const schema = { anyOf: [{ const: 0 }, { type: 'string', pattern, minLength, maxLength }] };
        if (maxLength === undefined) delete (schema.anyOf[1] as { maxLength?: number }).maxLength;
        const automaton = compileSchema(schema);
        const matches = new RegExp(pattern, 'u');
        const fits = (text: string) => {
          const n = [...text].length;
          return n >= minLength! && n <= (maxLength ?? n) && matches.test(text);
        };
        const wrong = texts.filter((text) => takes(automaton, JSON.stringify(text)) !== fits(text));
        expect(wrong).toEqual([]);
      }
    },
  );
});
