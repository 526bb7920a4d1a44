// Texts in other languages, colors of code and math for the elements of the package. They come from the files beside
// the script tag, so that the package has each of them once.

import { type MarkdownParts, provideParts } from '../ui/markdown/parts';
import type { Translated, Translation } from '../words/language';
import { handedOver } from './fetch/hand_over';
import { findTexts } from './fetch/shared_texts';

provideParts({
  code: () => import('./beside/code_entry').then(() => handedOver('code') as MarkdownParts['code']),
  math: () => import('./beside/math_entry').then(() => handedOver('math') as MarkdownParts['math']),
});

const TEXTS: Record<Translated, () => Promise<unknown>> = {
  de: () => import('./beside/words_de'),
  ja: () => import('./beside/words_ja'),
};

export async function importTexts(language: Translated): Promise<Translation> {
  await TEXTS[language]();
  const texts = findTexts(language);
  if (!texts) throw new Error(`embed_${language}.js is of another version.`);
  return texts;
}
