// The options in the page's address: `?model=URL|owner/repo&hub=URL`, and the load settings by name. Pure.

import { HUB, type ModelLocation, modelLocation, readHubUrl, showHubAddress, type Warning } from '../../engine/engine';
import { LOAD_FIELDS, type LoadSettings, readLoadSettings } from '../settings/settings_fields';

export const DEFAULT_MODEL = 'models/storyteller/storyteller-q8_0.gguf';

/** Illegal values are cut to this many characters in notices. */
const MAX_QUOTED = 80;

/** A model of the page's list, which its repository alone names in the address. */
export interface Listed {
  readonly repository: string;
  readonly location: string;
}

export interface PageOptions {
  /** Absolute address of the model. */
  model: string;
  load: LoadSettings;
  /** The tabs of this site have one engine. */
  shares: boolean;
  /** A notice for each illegal value in the address. */
  complaints: Warning[];
}

export function readPageOptions(search: string, base: string, listed: readonly Listed[] = []): PageOptions {
  const query = new URLSearchParams(search);
  const complaints: Warning[] = [];
  const refuse = (...asked: Parameters<typeof illegalValue>) => complaints.push(illegalValue(...asked));
  const load = readLoadSettings((name) => query.get(name), refuse);
  const share = query.get('share') ?? 'on';
  if (share !== 'on' && share !== 'off') refuse('share', share, 'on or off');
  const hub = query.get('hub');
  if (hub && !hubAddress(hub, base)) refuse('hub', hub, 'a web address');
  const model = modelAddress(query, base, listed, complaints);
  return { model, load, shares: share !== 'off', complaints };
}

/** The notice for a value in the address that is none of the legal ones. The usual value is taken. */
export function illegalValue(name: string, given: string, legal: string): Warning {
  const value = given.slice(0, MAX_QUOTED);
  return {
    code: 'address-value',
    message: `The address asks for ${name}=${value}; choose ${legal}.`,
    facts: { name, value },
  };
}

/** The hub of `owner/repo`: from the page's address, else the public hub. */
export function hubOf(search: string, base: string): string {
  return hubAddress(new URLSearchParams(search).get('hub') ?? '', base) ?? HUB;
}

function hubAddress(asked: string, base: string): string | null {
  const url = asked && URL.canParse(asked, base) ? new URL(asked, base) : null;
  return url && /^https?:$/.test(url.protocol) ? url.href.replace(/\/$/, '') : null;
}

/** True if the address may name a model of the page's list, which must be read first. */
export function mayBeListed(search: string): boolean {
  return /^[^/@:]+\/[^/@:]+$/.test(new URLSearchParams(search).get('model') ?? '');
}

function modelAddress(query: URLSearchParams, base: string, listed: readonly Listed[], complaints: Warning[]): string {
  const asked = query.get('model');
  if (asked !== null) {
    const own = listedAs(asked, listed);
    if (own) return own.location;
    const address = modelLocation(asked, base, hubOf(query.toString(), base));
    if (address) return address;
    const value = asked.slice(0, MAX_QUOTED);
    const message = `The address asks for model=${value}, which is no web address; the storyteller is loaded instead.`;
    complaints.push({ code: 'address-model', message, facts: { value } });
  }
  return new URL(DEFAULT_MODEL, base).href;
}

/** The only model of the list in a repository. */
function listedAs(repository: string, listed: readonly Listed[]): Listed | null {
  const found = listed.filter((each) => each.repository === repository);
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** The shortest name of a model that `modelAddress` reads as this model. */
function nameInAddress(model: string, query: URLSearchParams, base: string, listed: readonly Listed[]): string {
  const own = listed.find(({ location }) => location === model);
  const hub = hubOf(query.toString(), base);
  const onHub = readHubUrl(new URL(model), hub);
  const id = onHub?.hub === hub ? showHubAddress(onHub.address) : model;
  const names = [own?.repository ?? id, id, `${id}@main`, `hf:${id}`];
  const reads = (name: string) => {
    const named = new URLSearchParams(query);
    named.set('model', name);
    return modelAddress(named, base, listed, []) === model;
  };
  return names.find(reads) ?? model;
}

/** The query of the same page with this model and these settings. Defaults and opened files are left out. */
export function writePageOptions(
  search: string,
  load: LoadSettings,
  model: ModelLocation,
  base: string,
  listed: readonly Listed[] = [],
): string {
  const query = new URLSearchParams(search);
  if (typeof model !== 'string' || model === new URL(DEFAULT_MODEL, base).href) query.delete('model');
  else if (modelAddress(query, base, listed, []) !== model)
    query.set('model', nameInAddress(model, query, base, listed));
  for (const { key, name, standard } of LOAD_FIELDS) {
    if (load[key] === standard) query.delete(name);
    else query.set(name, String(load[key]));
  }
  // Slashes, colons and @ are legal in a query, and people read them.
  const text = query.toString().replace(/%2F/g, '/').replace(/%3A/g, ':').replace(/%40/g, '@');
  return text ? `?${text}` : '';
}
