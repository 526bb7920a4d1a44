// Reads the list of models beside the page, at most as many bytes as a list may have. Never throws.

import { type Catalogue, type CataloguePlace, storyteller } from './catalogue';
import { MAX_LETTERS, parseCatalogue } from './catalogue_parse';

/** Below the page's address. docs/catalogue.md. */
const FILE = 'catalogue.json';

export async function readCatalogue(place: CataloguePlace, get = fetch): Promise<Catalogue> {
  try {
    const response = await get(new URL(FILE, place.base), { credentials: 'same-origin', redirect: 'error' });
    if (!response.ok) return without(place, `The list of models could not be read (${response.status}).`);
    return parseCatalogue(await boundedText(response), place);
  } catch {
    return without(place, 'The list of models could not be read.');
  }
}

function without(place: CataloguePlace, complaint: string): Catalogue {
  return { models: [storyteller(place)], complaints: [complaint] };
}

/** The text of a response. Of one that is too long, just enough to be refused. */
async function boundedText({ body }: Response): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  while (text.length <= MAX_LETTERS) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
