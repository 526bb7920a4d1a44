// What the scripts of a page share of its language: the one asked for, and the texts that have been fetched. A script
// of another version finds no texts here, since its own may be others.

import type { Translated, Translation } from '../../words/language';

interface Shared {
  /** The languages that tags and elements ask for, by who asks. The newest wins. */
  asked: Map<object, string>;
  /** Texts by version and language. */
  texts: Record<string, Translation>;
}

const KEY = Symbol.for('vivace.language');
const VERSION: string = import.meta.env.VIVACE_VERSION ?? '';

function shared(): Shared {
  const page = globalThis as { [KEY]?: Shared };
  page[KEY] ??= { asked: new Map(), texts: {} };
  return page[KEY];
}

const keyOf = (language: Translated) => `${VERSION} ${language}`;

/** Hands texts over to the scripts of the page. */
export function offerTexts(language: Translated, translation: Translation): void {
  shared().texts[keyOf(language)] = translation;
}

export function findTexts(language: Translated): Translation | undefined {
  return shared().texts[keyOf(language)];
}

/** Remembers the language that a part of the page asks for. @param asked null: it asks for none, or no longer */
export function askLanguage(by: object, asked: string | null): void {
  const all = shared().asked;
  all.delete(by);
  if (asked) all.set(by, asked);
}

export function askedLanguage(): string | null {
  return [...shared().asked.values()].at(-1) ?? null;
}
