// The language of the page: that of `?lang=` in its address, else the browser's.

import { importTranslation } from '../../words/import_translation';
import { language, onLanguage, useLanguage } from '../../words/language';
import { writeStaticTexts } from './static_texts';

/** Resolves when the page has its texts. English has them at once. */
export async function connectLanguage(search: string): Promise<void> {
  const asked = new URLSearchParams(search).get('lang');
  onLanguage(() => {
    document.documentElement.lang = language();
    writeStaticTexts(document);
  });
  addEventListener('languagechange', () => void useLanguage(asked, importTranslation));
  await useLanguage(asked, importTranslation);
}
