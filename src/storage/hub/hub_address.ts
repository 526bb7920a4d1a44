// Repositories of a model hub as people name them, and as addresses. Pure.

export const HUB = 'https://huggingface.co';
const HUB_HOSTS: ReadonlySet<string> = new Set(['huggingface.co', 'www.huggingface.co', 'hf.co']);
/** First parts of hub addresses that are no owner of models. */
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

/** A model on a hub: a repository at a revision, or one file of it. */
export interface HubAddress {
  owner: string;
  name: string;
  /** A branch, a tag or a commit. */
  revision: string;
  /** A .gguf file of the repository, or '' for the repository. */
  file: string;
  /** Of the GGUF files of a repository, which: such as Q4_K_M; '' leaves the choice. */
  quantization: string;
}

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const REVISION = 'refs/pr/\\d{1,6}|[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const QUANTIZATION = '[A-Za-z0-9][A-Za-z0-9_-]{0,31}';
const ID = new RegExp(`^(?:hf:)?(${NAME})/(${NAME})(?:@(${REVISION}))?(?:/(.+\\.gguf)|:(${QUANTIZATION}))?$`, 'i');
const PATH = new RegExp(`^(${NAME})/(${NAME})(?:/(?:tree|blob|resolve)/([^/]+)(?:/(.*))?)?/?$`);
const MAX_ID = 2048;

/**
 * `owner/repo`, with `@revision` and then `/file.gguf` or `:Q4_K_M` where wanted, and `hf:` in front where it could be taken for
 * something else. Null for any other text.
 */
export function parseHubId(text: string): HubAddress | null {
  if (text.length > MAX_ID) return null;
  const [, owner, name, revision = 'main', file = '', quantization = ''] = ID.exec(text) ?? [];
  return owner && name ? checked({ owner, name, revision, file, quantization }) : null;
}

/**
 * The hub and the model that a URL means: a page or a folder of a known hub or of `hub`, or `.../owner/repo/resolve/revision/...` of any
 * server. Null for any other URL, and for one with a query on an unknown server: it may be a signature, which no other file has.
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

/** The one address of a model on a hub, by which it is kept. Ends in a slash where it is no file. */
export function hubLocation(hub: string, { owner, name, revision, file, quantization }: HubAddress): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  const choice = file === '' && quantization ? `#${quantization}` : '';
  return `${slashed(hub)}${owner}/${name}/resolve/${encodeURIComponent(revision)}/${path}${choice}`;
}

/**
 * The whole address of a model that a page or a tag names: an id of a hub, with or without `hf:`, or an address that may be relative to
 * `base`. `folder/file.gguf` is the latter. Null for what can be neither.
 */
export function modelLocation(text: string, base: string, hub = HUB): string | null {
  const id = /^[^/]+\/[^/]+\.gguf$/i.test(text) && !/^hf:/i.test(text) ? null : parseHubId(text);
  if (id) return hubLocation(hub, id);
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  if (!url || !/^(?:https?|blob):$/.test(url.protocol)) return null;
  const onHub = readHubUrl(url, hub);
  return onHub ? hubLocation(onHub.hub, onHub.address) : url.href;
}

/** As people write it. */
export function showHubAddress({ owner, name, revision, file, quantization }: HubAddress): string {
  const at = revision === 'main' ? '' : `@${revision}`;
  return `${owner}/${name}${at}${file ? `/${file}` : quantization ? `:${quantization}` : ''}`;
}

/** Whether a host is one of the public hub's, whose addresses are all repositories or no models. */
export function isHubHost(hostname: string): boolean {
  return HUB_HOSTS.has(hostname);
}

/** Whether a first part of a hub's paths is somebody, and not a section of the site. */
export function mayOwn(name: string): boolean {
  return !NO_OWNERS.has(name);
}

/** A path may not climb, and some names are no owners. */
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
