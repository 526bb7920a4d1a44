// What counts as an answer of JSON.

import { expect, test } from 'vitest';
import { readJson } from '../../../src/ui/markdown/json_view';

test.each([['{}'], [' {"a": [1, "ü"]}\n'], ['[{"a": null}]'], ['{"__proto__": 1}']])('%s is a tree', (text) => {
  expect(readJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ['a text', 'Hello'],
  ['a text that begins like JSON', '{name}, hello'],
  ['a number', '5'],
  ['a list of numbers, which may be a reference', '[1]'],
  ['a cut object', '{"a": 1'],
  ['two objects', '{} {}'],
  ['a number that would be rounded', '{"a": 12345678901234567890}'],
  ['what is too long', `{"a": "${'x'.repeat(1_000_000)}"}`],
])('%s is none', (_, text) => {
  expect(readJson(text)).toBeUndefined();
});
