// The texts of the page in the language of the interface: for what the script tag never shows.

import { translation } from './language';
import { type PageWords, page } from './page_en';

export function pageWords(): PageWords {
  return translation()?.page ?? page;
}
