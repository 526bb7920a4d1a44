// index.html is painted before any script runs: its texts are those of English, and each has its place.

import { readFileSync } from 'node:fs';
import { parseHTML } from 'linkedom';
import { afterEach, expect, test } from 'vitest';
import { writeStaticTexts } from '../../../src/ui/page/static_texts';
import { page as german } from '../../../src/words/de/page';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';

const read = () => parseHTML(readFileSync(new URL('../../../index.html', import.meta.url), 'utf8')).document;

afterEach(() => useLanguage('en', importTranslation));

test('English changes nothing', () => {
  const document = read();
  const before = document.toString();
  expect(writeStaticTexts(document)).toEqual([]);
  expect(document.toString()).toBe(before);
});

test('German changes all', async () => {
  await useLanguage('de', importTranslation);
  const document = read();
  writeStaticTexts(document);
  expect(document.querySelector('.foot')?.textContent).toBe(german.frame.private);
  expect(document.querySelector('#conversations')?.getAttribute('aria-label')).toBe(german.frame.conversations);
});
