// Checks the list of models, which whoever hosts the page may replace, so that nothing in it is trusted. Texts and
// numbers are bounded, and a model lies on the hub or on the page's own server. Pure.

import { hubLocation, parseHubId } from '../../../engine/engine';
import { isJsonObject, type JsonObject } from '../../../shared/json_object';
import { type Catalogue, type CatalogueModel, type CataloguePlace, type KvShape, storyteller } from './catalogue';

/** Most letters of a list, and most of its models. */
export const MAX_LETTERS = 200_000;
const MAX_MODELS = 40;
const MAX_COMPLAINTS = 5;
const MAX_NOTES = 12;
/** Most of a number: bytes, parameters, tokens. */
const MAX_NUMBER = 1e13;
const ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Languages of texts, beside English. */
const TRANSLATED = ['de', 'ja'];
const COMMIT = /^[0-9a-f]{40}$/;

/** The models of a list. A broken entry is left out; of a broken list only the storyteller is left. Never throws. */
export function parseCatalogue(text: string, place: CataloguePlace): Catalogue {
  const entries = entriesOf(text);
  if (typeof entries === 'string') return { models: [storyteller(place)], complaints: [entries] };
  const models: CatalogueModel[] = [];
  const complaints: string[] = [];
  for (const [i, entry] of entries.entries()) {
    try {
      const model = readModel(new Fields(entry), place);
      const twin = models.find(({ id, location }) => id === model.id || location === model.location);
      if (twin) throw new CatalogueError(`it is ${twin.name} again`);
      models.push(model);
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      complaints.push(`Model ${i + 1} of the list is left out: ${error.message}.`);
    }
  }
  if (models.length === 0) models.push(storyteller(place));
  return { models, complaints: complaints.slice(0, MAX_COMPLAINTS) };
}

/** The reason why an entry is left out, as the second half of a sentence. */
class CatalogueError extends Error {}

/** The entries of a list, or a sentence that says why there are none. */
function entriesOf(text: string): readonly unknown[] | string {
  if (text.length > MAX_LETTERS) return 'The list of models is too long to be read.';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'The list of models is not valid JSON.';
  }
  const models = isJsonObject(value) ? value.models : null;
  if (!Array.isArray(models) || models.length === 0) return 'The list of models has no models.';
  if (models.length > MAX_MODELS) return `The list of models has more than ${MAX_MODELS} models.`;
  return models;
}

function readModel(fields: Fields, place: CataloguePlace): CatalogueModel {
  const id = fields.text('id', 64);
  if (!ID.test(id)) throw new CatalogueError('its id has other signs than a-z, 0-9, dot, dash and underscore');
  return {
    id,
    name: fields.text('name', 60),
    about: fields.translations('about', 200),
    ...whereOf(fields, place),
    tellsStories: fields.has('tells') && fields.text('tells', 20) === 'stories',
    parameters: fields.number('parameters'),
    downloadBytes: fields.number('downloadBytes'),
    bytesPerToken: fields.number('bytesPerToken'),
    kv: kvOf(fields),
    contextLength: fields.number('contextLength', 1e8),
    license: licenseOf(fields.object('license')),
    unverified: fields.notes('unverified'),
  };
}

/** The model's place: a file of a repository, or an address on the page's own server. */
function whereOf(
  fields: Fields,
  { base, hub }: CataloguePlace,
): Pick<CatalogueModel, 'location' | 'repository' | 'isPinned'> {
  if (fields.has('url')) {
    const url = fields.text('url', 500);
    if (!URL.canParse(url, base) || new URL(url, base).origin !== new URL(base).origin)
      throw new CatalogueError('its url is not on the server of this page');
    return { location: new URL(url, base).href, repository: '', isPinned: true };
  }
  const repository = fields.text('repository', 200);
  const revision = fields.text('revision', 100);
  const file = fields.has('file') ? `/${fields.text('file', 500)}` : '';
  const address = parseHubId(`hf:${repository}@${revision}${file}`);
  if (!address || `${address.owner}/${address.name}` !== repository)
    throw new CatalogueError('its repository, revision and file are no model of a hub');
  return { location: hubLocation(hub, address), repository, isPinned: COMMIT.test(revision) };
}

function kvOf(fields: Fields): KvShape {
  const layers = fields.number('layers', 1000);
  const heads = fields.number('kvHeads', 1000);
  const hasWindows = fields.has('window') || fields.has('windowLayers');
  const windows = hasWindows
    ? { layers: fields.number('windowLayers', layers), tokens: fields.number('window', 1e8) }
    : null;
  return { layers, heads, headDim: fields.number('headDim', 4096), windows };
}

function licenseOf(fields: Fields): CatalogueModel['license'] {
  const url = fields.text('url', 500);
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw new CatalogueError('the url of its license does not begin with https://');
  return { name: fields.text('name', 60), url: new URL(url).href };
}

/** Reads the values of an entry, each with its bounds. */
class Fields {
  private readonly fields: JsonObject;

  constructor(value: unknown) {
    if (!isJsonObject(value)) throw new CatalogueError('it is no object');
    this.fields = value;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.fields, name);
  }

  object(name: string): Fields {
    return new Fields(this.get(name));
  }

  text(name: string, max: number): string {
    return checkedText(this.get(name), name, max);
  }

  /** A text by language, in English at least. */
  translations(name: string, max: number): Record<string, string> {
    const texts = this.object(name);
    const read: Record<string, string> = { en: texts.text('en', max) };
    for (const tag of TRANSLATED) if (texts.has(tag)) read[tag] = texts.text(tag, max);
    return read;
  }

  notes(name: string): string[] {
    const notes = this.has(name) ? this.get(name) : [];
    if (!Array.isArray(notes) || notes.length > MAX_NOTES) throw new CatalogueError(`its ${name} is no short list`);
    return notes.map((note) => checkedText(note, name, 300));
  }

  /** A whole number from 1 to `max`. */
  number(name: string, max = MAX_NUMBER): number {
    const value = this.get(name);
    if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > max)
      throw new CatalogueError(`its ${name} is no whole number from 1 to ${max}`);
    return Number(value);
  }

  private get(name: string): unknown {
    return this.has(name) ? this.fields[name] : undefined;
  }
}

/** A text without signs that are invisible or turn the direction of a line. */
function checkedText(value: unknown, name: string, max: number): string {
  if (typeof value !== 'string' || value.trim() === '') throw new CatalogueError(`its ${name} is no text`);
  if (value.length > max) throw new CatalogueError(`its ${name} is longer than ${max} letters`);
  if (/\p{C}/u.test(value)) throw new CatalogueError(`its ${name} has invisible signs`);
  return value.trim();
}
