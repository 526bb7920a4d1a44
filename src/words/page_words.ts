// The texts of the page in the language of the interface: for what the script tag never shows.

import { type PageWords, page } from './en/page';
import { translation } from './language';

export function pageWords(): PageWords {
  return translation()?.page ?? page;
}
