// The names of the script tag's button in all languages: nothing is fetched before a visitor opens the chat.

import type { Language } from './language';

const OPEN: Record<Language, (title: string) => string> = {
  en: (title) => `Open ${title}`,
  de: (title) => `${title} öffnen`,
  ja: (title) => `${title} を開く`,
};

const CLOSE: Record<Language, (title: string) => string> = {
  en: (title) => `Close ${title}`,
  de: (title) => `${title} schließen`,
  ja: (title) => `${title} を閉じる`,
};

export function launcherLabel(language: Language, title: string, isOpen: boolean): string {
  return (isOpen ? CLOSE : OPEN)[language](title);
}
