// Fetches the texts of a language as a module of its own, for the page.

import type { Translated, Translation } from './language';

export async function importTranslation(language: Translated): Promise<Translation> {
  switch (language) {
    case 'de':
      return (await import('./de/all')).de;
    case 'ja':
      return (await import('./ja/all')).ja;
  }
}
