// What the scripts of a page share of its language: the one asked for, and the texts that have been fetched. A script
// of another version finds no texts here, since its own may be others.

import type { Translated, Translation } from '../../words/language';

interface Shared {
  /** The language that a tag or an element asks for. */
  asked: string | null;
  /** Texts by version and language. */
  texts: Record<string, Translation>;
}

const KEY = Symbol.for('vivace.words');
const VERSION: string = import.meta.env.VIVACE_VERSION ?? '';

function shared(): Shared {
  const page = globalThis as { [KEY]?: Shared };
  page[KEY] ??= { asked: null, texts: {} };
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

/** Remembers the language that the page asks for. The newest wins. */
export function askLanguage(asked: string): void {
  shared().asked = asked;
}

export function askedLanguage(): string | null {
  return shared().asked;
}
