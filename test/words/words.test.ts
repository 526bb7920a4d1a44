// The texts of all languages: one shape, nothing empty, plurals that speak; and the choice of a language.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { de } from '../../src/words/de/all';
import { chat } from '../../src/words/en/chat';
import { page } from '../../src/words/en/page';
import { panel } from '../../src/words/en/panel';
import { importTranslation } from '../../src/words/import_translation';
import { ja } from '../../src/words/ja/all';
import { chooseLanguage, language, onLanguage, type Translation, useLanguage } from '../../src/words/language';
import { pageWords } from '../../src/words/page_words';
import { panelWords } from '../../src/words/panel_words';
import { words } from '../../src/words/words';

const ENGLISH = { chat, page, panel };
/** Without errors and reasons, of which English has few or none: error_words.test.ts, reasons.test.ts. */
const withoutErrors = ({ errors: _, reasons: __, ...texts }: typeof de) => texts;
const ALL = { en: ENGLISH, de: withoutErrors(de), ja: withoutErrors(ja) };

beforeEach(() => {
  vi.stubGlobal('navigator', { languages: ['en-US', 'en'] });
  return useLanguage('en', importTranslation);
});
afterEach(() => vi.unstubAllGlobals());

test.each(Object.entries(ALL))('%s: no line of a preset ends within top-k, top-p or min-p', (_, texts) => {
  const notes = Object.values(texts.chat.settings.presets).map(([, note]) => note);
  expect(notes.filter((note) => note.includes('\u2011'))).toHaveLength(3);
  for (const note of notes) expect(note).not.toMatch(/(top|min)-[kp]/i);
});

test('the first language of a list that there is', () => {
  expect(chooseLanguage(['de-AT', 'en'])).toBe('de');
  expect(chooseLanguage(['fr', 'pt-BR', 'ja-JP', 'en'])).toBe('ja');
  expect(chooseLanguage(['EN_us', 'de'])).toBe('en');
  expect(chooseLanguage(['fr', 'nl'])).toBe('en');
  expect(chooseLanguage(['', 'deutsch', '-de', 'x'.repeat(100_000)])).toBe('en');
  expect(chooseLanguage([])).toBe('en');
});

test('what is asked for goes before the languages of the browser', async () => {
  vi.stubGlobal('navigator', { languages: ['ja', 'en'] });
  await useLanguage('de-CH', importTranslation);
  expect([language(), words()]).toEqual(['de', de.chat]);
  await useLanguage('fr', importTranslation);
  expect([language(), pageWords(), panelWords()]).toEqual(['ja', ja.page, ja.panel]);
  await useLanguage(null, importTranslation);
  expect(language()).toBe('ja');
  vi.stubGlobal('navigator', undefined);
  await useLanguage(null, importTranslation);
  expect([language(), words(), pageWords(), panelWords()]).toEqual(['en', chat, page, panel]);
});

test('listeners hear of a change, and of nothing else', async () => {
  const heard: string[] = [];
  const stop = onLanguage(() => heard.push(language()));
  await useLanguage('en', importTranslation);
  await useLanguage('de', importTranslation);
  await useLanguage('de', importTranslation);
  stop();
  await useLanguage('ja', importTranslation);
  expect(heard).toEqual(['de']);
});

test('texts that cannot be fetched leave those before, with a warning', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  await useLanguage('de', () => Promise.reject(new Error('no network')));
  expect([language(), words()]).toEqual(['en', chat]);
  expect(warn.mock.calls.length).toBe(1);
  warn.mockRestore();
});

test('a slow language never undoes a later choice', async () => {
  let arrive = (_: Translation) => {};
  const slow = useLanguage('de', () => new Promise((resolve) => (arrive = resolve)));
  await useLanguage('ja', importTranslation);
  arrive(de);
  await slow;
  expect(language()).toBe('ja');
});

test('texts that leave out the page have it in English', async () => {
  await useLanguage('de', async () => ({ ...de, page: undefined }));
  expect([pageWords(), words()]).toEqual([page, de.chat]);
});

test('German says Sie to the reader, never du', () => {
  const familiar = /\b(du|dein\w*|dich|dir)\b|\b(beginne|hänge|lade|prüfe|versuche|wähle|warte) /i;
  const { catalogue: _, ...page } = de.page; // its examples are what a reader may write
  const all = textsOf({ ...ALL.de, page, errors: de.errors, reasons: de.reasons }).map(String);
  expect(all.filter((text) => familiar.test(text))).toEqual([]);
});

test('one of a kind is said in the singular', () => {
  const ofOne = ({ chat: { ends }, page, panel: { figures, ...panel } }: typeof ENGLISH) => [
    ends.limit('1'),
    ends.thoughtLimit('1'),
    page.attach.more(1),
    panel.comparison.ofTokens(1, 1),
    panel.chart.tooFewHelp(1, 9),
    panel.repeat.runs(1),
    figures.tooFewGaps(1, 9),
    figures.tooFewSteps(1, 9),
    figures.layers('llama', 1),
  ];
  const nouns = (texts: readonly string[]) =>
    texts.flatMap((text) => text.match(/(?<=\b1[ -])(?:more |weiteres? )?\w+/g));
  const english = ['token', 'token', 'more character', 'token', 'gap', 'gap', 'run', 'gap', 'step', 'layer'];
  expect(nouns(ofOne(ENGLISH))).toEqual(english);
  const german = ['Token', 'Token', 'weiteres Zeichen', 'Token', 'Abstand', 'Abstand', 'Lauf', 'Abstand', 'Schritt'];
  expect(nouns(ofOne(ALL.de as typeof ENGLISH))).toEqual([...german, 'Schicht']);
});

/** Each text by its path, with the number of values that it takes. */
function shapeOf(texts: unknown, path = ''): string[] {
  if (typeof texts === 'string') return [path];
  if (typeof texts === 'function') return [`${path}()`];
  return Object.entries(texts as object).flatMap(([name, inner]) => shapeOf(inner, `${path}.${name}`));
}

function textsOf(texts: unknown): (string | ((...values: unknown[]) => unknown))[] {
  if (typeof texts === 'string' || typeof texts === 'function') return [texts as string];
  return Object.values(texts as object).flatMap(textsOf);
}

test('all languages have the same shape', () => {
  const shape = shapeOf(ENGLISH);
  expect(shapeOf(ALL.de)).toEqual(shape);
  expect(shapeOf(ALL.ja)).toEqual(shape);
});

for (const [tag, texts] of Object.entries(ALL)) {
  test(`${tag}: no text is empty, glued or has spaces around it`, () => {
    const found = textsOf(texts).filter((text) => typeof text === 'string');
    expect(found.filter((text) => text.trim() !== text || text === '')).toEqual([]);
    expect(found.filter((text) => / {2}|\bundefined\b/.test(text))).toEqual([]);
  });

  test(`${tag}: texts of numbers speak for 0, 1 and 2`, () => {
    for (const text of textsOf(texts)) {
      if (typeof text !== 'function') continue;
      for (const n of [0, 1, 2]) {
        const spoken = text(n, n, n, n, n);
        expect(spoken, String(text)).toBeTypeOf('string');
        expect(spoken, String(text)).toMatch(/^(?!.*(?:undefined|NaN|\[object)).*\S/s);
      }
    }
  });
}
