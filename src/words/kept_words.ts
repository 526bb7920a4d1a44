// What the script tag says of the conversation that it keeps. All languages come with the file that keeps it.

import { kept as de } from './de/kept';
import { type KeptWords, kept } from './en/kept';
import { kept as ja } from './ja/kept';
import type { Language } from './language';

const ALL: Record<Language, KeptWords> = { en: kept, de, ja };

export function keptWords(language: Language): KeptWords {
  return ALL[language];
}
