// What counts as an answer of JSON.

import { expect, test } from 'vitest';
import { readJson, VivaceJson } from '../../../src/ui/markdown/json_view';

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
  ['a number beyond all that JavaScript has', '{"a": [1e400, -1e400]}'],
  ['what is too long', `{"a": "${'x'.repeat(1_000_000)}"}`],
])('%s is none', (_, text) => {
  expect(readJson(text)).toBeUndefined();
});

test('characters that are invisible or turn the direction of a line become their names', () => {
  const view = new VivaceJson();
  view.value = { 'a\u202eb': 'c\u0007\u2066d' };
  const shown = JSON.stringify(view.render());
  for (const text of ['a[U+202E]b', 'c\u2407[U+2066]d']) expect(shown).toContain(text);
});
