// What the page's address asks for. Pure: `?model=URL|owner/repo&hub=URL&backend=&attention=&kv=&activations=&context=`.

import { type EngineLoadOptions, HUB, type ModelLocation, modelLocation } from '../../engine/engine';
import { LOAD_FIELDS, type LoadSettings, STANDARD_LOAD } from '../settings/settings_fields';

export const DEFAULT_MODEL = 'models/storyteller/storyteller-q8_0.gguf';

export interface PageOptions {
  /** Absolute address of the model. */
  model: string;
  load: LoadSettings;
  contextLength: number | undefined;
  /** What in the address was not understood, one sentence each. */
  complaints: string[];
}

const PARAMETERS: Record<keyof LoadSettings, string> = {
  attention: 'attention',
  kvCache: 'kv',
  activations: 'activations',
  backend: 'backend',
};

export function readPageOptions(search: string, base: string): PageOptions {
  const query = new URLSearchParams(search);
  const complaints: string[] = [];
  const load: LoadSettings = { ...STANDARD_LOAD };
  for (const field of LOAD_FIELDS) {
    const name = PARAMETERS[field.key];
    const value = query.get(name);
    if (value === null) continue;
    if (field.choices.some(([choice]) => choice === value)) Object.assign(load, { [field.key]: value });
    else
      complaints.push(
        `The address asks for ${name}=${value}; choose one of ${field.choices.map(([c]) => c).join(', ')}.`,
      );
  }
  const context = query.get('context');
  const contextLength = context !== null && /^[1-9]\d{0,7}$/.test(context) ? Number(context) : undefined;
  if (context !== null && contextLength === undefined) {
    complaints.push(`The address asks for context=${context}, which is no number of tokens.`);
  }
  const model = modelAddress(query, base, complaints);
  return { model, load, contextLength, complaints };
}

/** The hub that the page's address names for `owner/repo`, or the public one. */
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

/** The same page with another model and other load settings, so that its address can be kept and shared. Files have no address. */
export function writePageOptions(search: string, load: LoadSettings, model: ModelLocation, base: string): string {
  const query = new URLSearchParams(search);
  if (typeof model !== 'string' || model === new URL(DEFAULT_MODEL, base).href) query.delete('model');
  else if (modelAddress(query, base, []) !== model) query.set('model', model);
  for (const { key } of LOAD_FIELDS) {
    if (load[key] === STANDARD_LOAD[key]) query.delete(PARAMETERS[key]);
    else query.set(PARAMETERS[key], load[key]);
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}

export function toLoadOptions(load: LoadSettings, contextLength: number | undefined): EngineLoadOptions {
  return contextLength === undefined ? { ...load } : { ...load, contextLength };
}
