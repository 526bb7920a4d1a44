// The language of the interface: which one is chosen, its texts, and who hears of a change. English is built in; the
// texts of the others are fetched when they are chosen.

import type { ChatWords } from './en/chat';
import type { ErrorWords } from './en/errors';
import type { PageWords } from './en/page';
import type { PanelWords } from './en/panel';

const LANGUAGES = ['en', 'de', 'ja'] as const;
export type Language = (typeof LANGUAGES)[number];
export type Translated = Exclude<Language, 'en'>;

/** Reasons of the engine by their English words. {0}, {1} ... stand for the values in both. */
export type Reasons = Readonly<Record<string, string>>;

/** The texts of a language. The script tag has no page, so its files leave out the page's. */
export interface Translation {
  chat: ChatWords;
  errors: ErrorWords;
  page?: PageWords;
  panel: PanelWords;
  reasons: Reasons;
}

/** Fetches the texts of a language. */
export type FetchTranslation = (language: Translated) => Promise<Translation>;

let current: Language = 'en';
let texts: Translation | null = null;
/** Counts the choices, so that a slow fetch never undoes a later choice. */
let choices = 0;
const listeners = new Set<() => void>();

/** The language whose texts are shown. */
export function language(): Language {
  return current;
}

/** The texts of the language, or null for English. */
export function translation(): Translation | null {
  return texts;
}

/** The language of a tag such as 'de-AT', or null if there is none. */
export function languageOf(tag: string): Language | null {
  const [primary] = tag.trim().toLowerCase().split(/[-_]/, 1);
  return LANGUAGES.find((each) => each === primary) ?? null;
}

/** The first language of a list of tags that there is. English if there is none. */
export function chooseLanguage(tags: readonly string[]): Language {
  for (const tag of tags) {
    const found = languageOf(tag);
    if (found) return found;
  }
  return 'en';
}

/** The browser's languages, best first. None in a program without a browser. */
function browserLanguages(): readonly string[] {
  return globalThis.navigator?.languages ?? [];
}

/**
 * Shows the texts of the language `asked` for, or else of the browser's. Resolves when they are shown. If they cannot
 * be fetched, the texts stay as they are.
 */
export async function useLanguage(asked: string | null | undefined, fetchTexts: FetchTranslation): Promise<void> {
  const chosen = chooseLanguage([asked ?? '', ...browserLanguages()]);
  const choice = ++choices;
  if (chosen === current) return;
  try {
    const found = chosen === 'en' ? null : await fetchTexts(chosen);
    if (choice !== choices) return;
    texts = found;
  } catch (error) {
    console.warn(`Vivace: the texts of the language ${chosen} could not be loaded.`, error);
    return;
  }
  current = chosen;
  for (const listener of listeners) listener();
}

/** Calls `listener` after each change of the language. The returned function removes the listener. */
export function onLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
