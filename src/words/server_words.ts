// What is said of servers that answer. All languages come with the part that asks servers.

import { server as de } from './de/server';
import { type ServerWords, server } from './en/server';
import { server as ja } from './ja/server';
import type { Language } from './language';

const ALL: Record<Language, ServerWords> = { en: server, de, ja };

export function serverWords(language: Language): ServerWords {
  return ALL[language];
}
