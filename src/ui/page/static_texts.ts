// The texts of index.html, which the page paints in English before its scripts run, in the reader's language.

import { pageWords } from '../../words/page_words';

type Texts = ReturnType<typeof pageWords>['frame'];

/** The place of each text: an element, and its attributes. `text` is its content. */
const PLACES: readonly (readonly [selector: string, attributes: string, text: keyof Texts])[] = [
  ['#conversations', 'title aria-label', 'conversations'],
  ['#tempo', 'title', 'tempo'],
  ['#timing', 'title', 'timingTitle'],
  ['#timing > span', 'text', 'timing'],
  ['#close-shelf', 'text', 'close'],
  ['#close-panel', 'text', 'close'],
  ['#other-model', 'text', 'otherModel'],
  ['#edge', 'aria-label', 'timingWidth'],
  ['#panel', 'aria-label', 'timing'],
  ['.foot', 'text', 'private'],
];

/** Writes all texts of the document. Returns the selectors that found nothing. */
export function writeStaticTexts(root: ParentNode): string[] {
  const texts = pageWords().frame;
  const missing: string[] = [];
  for (const [selector, attributes, name] of PLACES) {
    const element = root.querySelector(selector);
    if (!element) {
      missing.push(selector);
      continue;
    }
    for (const attribute of attributes.split(' ')) {
      if (attribute === 'text') element.textContent = texts[name];
      else element.setAttribute(attribute, texts[name]);
    }
  }
  return missing;
}
