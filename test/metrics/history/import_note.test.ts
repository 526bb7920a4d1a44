// What the panel says after an import of several files.

import { expect, test } from 'vitest';
import { importNote } from '../../../src/metrics/history/import_note';

const broken = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `${i}.json`, why: 'Why.' }));

test('one file has its reason alone, and several have each name with its reason', () => {
  expect(importNote(broken(1), 1)).toBe('Why.');
  expect(importNote([], 1)).toBe('');
  expect(importNote([], 5)).toBe('');
  expect(importNote(broken(1), 2)).toBe('0.json: Why.');
  expect(importNote(broken(3), 3)).toBe('0.json: Why. 1.json: Why. 2.json: Why.');
});

test('many files and long names are bounded', () => {
  expect(importNote(broken(4), 9)).toBe('0.json: Why. 1.json: Why. 2.json: Why. 1 more file was not imported.');
  expect(importNote(broken(1000), 1000)).toMatch(/2\.json: Why\. 997 more files were not imported\.$/);
  expect(importNote([{ name: 'x'.repeat(500), why: 'Why.' }], 2)).toBe(`${'x'.repeat(60)}…: Why.`);
});
