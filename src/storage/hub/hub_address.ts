// Repositories of a model hub, as ids and as URLs. Pure.

import { canFetch } from '../../shared/can_fetch';

export const HUB = 'https://huggingface.co';
const HUB_HOSTS: ReadonlySet<string> = new Set(['huggingface.co', 'www.huggingface.co', 'hf.co']);
/** First path segments of hub URLs that are no owners. */
const NO_OWNERS: ReadonlySet<string> = new Set([
  'api',
  'datasets',
  'spaces',
  'docs',
  'models',
  'papers',
  'collections',
  'blog',
]);

/** A model on a hub: a repository at a revision, or one of its files. */
export interface HubAddress {
  owner: string;
  name: string;
  /** A branch, a tag or a commit. */
  revision: string;
  /** A .gguf file of the repository, or '' for the repository itself. */
  file: string;
  /** The quantization, such as Q4_K_M, among a repository's GGUF files; '' for the default. */
  quantization: string;
}

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const REVISION = 'refs/pr/\\d{1,6}|[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const QUANTIZATION = '[A-Za-z0-9][A-Za-z0-9_-]{0,31}';
const ID = new RegExp(`^(?:hf:)?(${NAME})/(${NAME})(?:@(${REVISION}))?(?:/(.+\\.gguf)|:(${QUANTIZATION}))?$`, 'i');
const PATH = new RegExp(`^(${NAME})/(${NAME})(?:/(?:tree|blob|resolve)/([^/]+)(?:/(.*))?)?/?$`);
const MAX_ID = 2048;

/**
 * Parses `owner/repo`, optionally with `@revision` and then `/file.gguf` or `:Q4_K_M`, and with the prefix `hf:` for
 * otherwise ambiguous texts. Null for any other text.
 */
export function parseHubId(text: string): HubAddress | null {
  if (text.length > MAX_ID) return null;
  const [, owner, name, revision = 'main', file = '', quantization = ''] = ID.exec(text) ?? [];
  return owner && name ? checked({ owner, name, revision, file, quantization }) : null;
}

/**
 * The hub and model of a URL: a page or folder of a known hub or of `hub`, or `.../owner/repo/resolve/revision/...` on
 * any server. Null for any other URL, and for a query on an unknown server: a query may be a signature, valid for one
 * file only.
 */
export function readHubUrl(url: URL, hub = HUB): { hub: string; address: HubAddress } | null {
  const known = HUB_HOSTS.has(url.hostname) ? HUB : within(url, hub) ? hub : null;
  if (known === null && url.search !== '') return null;
  const skipped = known === hub && !HUB_HOSTS.has(url.hostname) ? new URL(slashed(hub)).pathname.length : 1;
  const path = url.pathname.slice(skipped);
  const before = known === null ? /^(.*\/)?(?=[^/]+\/[^/]+\/resolve\/[^/]+(?:\/|$))/.exec(path)?.[0] : '';
  if (before === undefined) return null;
  const [, owner, name, revision = 'main', file = ''] = PATH.exec(path.slice(before.length)) ?? [];
  if (!owner || !name) return null;
  const [quantization] = new RegExp(`^${QUANTIZATION}$`, 'i').exec(decoded(url.hash.slice(1))) ?? [''];
  const address = { owner, name, revision: decoded(revision), file: decoded(file), quantization };
  return checked(address) && { hub: known ?? `${url.origin}/${before}`.replace(/\/$/, ''), address };
}

/** The canonical URL of a model on a hub and its key in the cache. Ends in a slash unless a file is named. */
export function hubLocation(hub: string, { owner, name, revision, file, quantization }: HubAddress): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  const choice = file === '' && quantization ? `#${quantization}` : '';
  return `${slashed(hub)}${owner}/${name}/resolve/${encodeURIComponent(revision)}/${path}${choice}`;
}

/**
 * The absolute URL of a model named by a page or a tag: a hub id, with or without `hf:`, or a URL, possibly relative to
 * `base`. `folder/file.gguf` is a URL. Null for anything else, such as a blank text.
 */
export function modelLocation(text: string, base: string, hub = HUB): string | null {
  if (text.trim() === '') return null;
  const id = /^[^/]+\/[^/]+\.gguf$/i.test(text) && !/^hf:/i.test(text) ? null : parseHubId(text);
  if (id) return hubLocation(hub, id);
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  if (!url || !canFetch(url, base)) return null;
  const onHub = readHubUrl(url, hub);
  return onHub ? hubLocation(onHub.hub, onHub.address) : url.href;
}

/** The address in the notation of `parseHubId`. */
export function showHubAddress({ owner, name, revision, file, quantization }: HubAddress): string {
  const at = revision === 'main' ? '' : `@${revision}`;
  return `${owner}/${name}${at}${file ? `/${file}` : quantization ? `:${quantization}` : ''}`;
}

/** True for a host of the public hub, where every URL is a repository or no model. */
export function isHubHost(hostname: string): boolean {
  return HUB_HOSTS.has(hostname);
}

/** True if a first path segment names an owner rather than a section of the site. */
export function mayOwn(name: string): boolean {
  return !NO_OWNERS.has(name);
}

/** Rejects paths that climb and reserved owner names. */
function checked(address: HubAddress): HubAddress | null {
  const parts = [...address.revision.split('/'), ...address.file.split('/')];
  return parts.includes('..') || parts.includes('.') || !mayOwn(address.owner) ? null : address;
}

function within(url: URL, hub: string): boolean {
  return URL.canParse(hub) && url.href.startsWith(slashed(new URL(hub).href));
}

function slashed(hub: string): string {
  return `${hub.replace(/\/+$/, '')}/`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
