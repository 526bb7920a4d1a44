// The attributes that a tag and an element share. Pure: their texts in, values and complaints out.

import { HUB, modelLocation } from '../../engine/engine';
import { canFetch } from '../../shared/can_fetch';
import { DEFAULT_MODEL } from '../../ui/model/page_options';
import { LOAD_FIELDS, type LoadSettings, readLoadSettings } from '../../ui/settings/settings_fields';
import { languageOf } from '../../words/language';
import type { EmbedServer } from '../server/server_part';

/** The names of these attributes. */
export const ATTRIBUTES = [
  'model',
  'hub',
  'sha256',
  'worker',
  'server',
  'server-model',
  'server-rule',
  'share',
  'theme',
  'lang',
  'examples',
  ...LOAD_FIELDS.map(({ name }) => name),
];

/** The model of a tag or an element, with its load options. */
export interface EmbedModel {
  /** Absolute address. */
  model: string;
  /** SHA-256 of the model's file in hex. Only the engine checks its form. */
  sha256: string | undefined;
  load: LoadSettings;
  /** All tabs of the site have one engine. */
  share?: boolean;
  /** Absolute address of vivace_worker.js on the page's own origin, for pages that forbid workers from a blob. */
  worker: string | undefined;
  /** The server that answers instead of the model, or beside it. */
  server?: EmbedServer | null;
}

/** True if the storyteller answers, and no server in its place or beside it. */
export const tellsStories = ({ model, server }: Pick<EmbedModel, 'model' | 'server'>): boolean =>
  !server && model.endsWith(DEFAULT_MODEL.slice(DEFAULT_MODEL.lastIndexOf('/')));

/** The location of a model or of a hub's repository, or undefined, with a complaint if the text is illegal. */
export function readModel({ model, hub }: DOMStringMap, base: string, complaints: string[]): string | undefined {
  if (model === undefined) return undefined;
  const found = modelLocation(model, base, readAddress('hub', hub, base, complaints) ?? HUB);
  if (found === null) {
    complaints.push(`model="${model}" is no repository (owner/repo) and no address of a .gguf file; it is left out.`);
  }
  return found ?? undefined;
}

/** The load settings of attributes with this prefix. An empty attribute counts as absent. */
export function readLoad(
  find: (name: string) => string | null | undefined,
  prefix: string,
  complaints: string[],
): LoadSettings {
  return readLoadSettings(
    (name) => find(name) || null,
    (name, value, legal) => complaints.push(`${prefix}${name}="${value}" is none of ${legal}; it is left out.`),
  );
}

/** The language of a tag, or null, with a complaint if there are no texts in it. */
export function readLanguage(tag: string | null | undefined, complaints: string[]): string | null {
  if (!tag) return null;
  if (languageOf(tag)) return tag;
  complaints.push(`lang="${tag}" has no texts here; the browser's language is shown instead.`);
  return null;
}

/** The questions of an attribute, separated by bars. */
export function splitExamples(value: string | null | undefined): string[] {
  return (value ?? '')
    .split('|')
    .map((example) => example.trim())
    .filter(Boolean);
}

/** The absolute address, or undefined, with a complaint if the text is no address that can be fetched. */
export function readAddress(name: string, value: string | null | undefined, base: string, complaints: string[]) {
  if (!value) return undefined;
  const url = URL.canParse(value, base) ? new URL(value, base) : null;
  if (url && canFetch(url, base)) return url.href;
  complaints.push(`${name}="${value}" is no address on the web (http, https, blob); it is left out.`);
  return undefined;
}
