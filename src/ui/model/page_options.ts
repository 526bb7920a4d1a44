// The options in the page's address: `?model=URL|owner/repo&hub=URL`, and the load settings by name. Pure.

import { HUB, type ModelLocation, modelLocation } from '../../engine/engine';
import { LOAD_FIELDS, type LoadSettings, readLoadSettings } from '../settings/settings_fields';

export const DEFAULT_MODEL = 'models/storyteller/storyteller-q8_0.gguf';

export interface PageOptions {
  /** Absolute address of the model. */
  model: string;
  load: LoadSettings;
  /** One sentence for each illegal value in the address. */
  complaints: string[];
}

export function readPageOptions(search: string, base: string): PageOptions {
  const query = new URLSearchParams(search);
  const complaints: string[] = [];
  const load = readLoadSettings(
    (name) => query.get(name),
    (name, value, legal) => complaints.push(`The address asks for ${name}=${value}; choose ${legal}.`),
  );
  const model = modelAddress(query, base, complaints);
  return { model, load, complaints };
}

/** The hub of `owner/repo`: from the page's address, else the public hub. */
export function hubOf(search: string, base: string): string {
  const asked = new URLSearchParams(search).get('hub');
  return asked && URL.canParse(asked, base) && /^https?:$/.test(new URL(asked, base).protocol)
    ? new URL(asked, base).href.replace(/\/$/, '')
    : HUB;
}

function modelAddress(query: URLSearchParams, base: string, complaints: string[]): string {
  const asked = query.get('model');
  if (asked) {
    const address = modelLocation(asked, base, hubOf(query.toString(), base));
    if (address) return address;
    complaints.push(`The address asks for model=${asked}, which is no web address; the storyteller is loaded instead.`);
  }
  return new URL(DEFAULT_MODEL, base).href;
}

/** The query of the same page with this model and these settings. Defaults and opened files are left out. */
export function writePageOptions(search: string, load: LoadSettings, model: ModelLocation, base: string): string {
  const query = new URLSearchParams(search);
  if (typeof model !== 'string' || model === new URL(DEFAULT_MODEL, base).href) query.delete('model');
  else if (modelAddress(query, base, []) !== model) query.set('model', model);
  for (const { key, name, standard } of LOAD_FIELDS) {
    if (load[key] === standard) query.delete(name);
    else query.set(name, String(load[key]));
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}
