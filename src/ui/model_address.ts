// Where a model is, as people write it: a repository of the Hugging Face hub, or an address. Pure.

const HUB = 'https://huggingface.co';
const HUB_HOSTS: ReadonlySet<string> = new Set(['huggingface.co', 'www.huggingface.co', 'hf.co']);
/** First parts of hub addresses that are no owner of models. */
const NO_OWNERS: ReadonlySet<string> = new Set([
  'datasets',
  'spaces',
  'docs',
  'models',
  'papers',
  'collections',
  'blog',
]);
const MAX_LENGTH = 2048;

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const REVISION = 'refs/pr/\\d{1,6}|[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const REPOSITORY = new RegExp(`^(${NAME})/(${NAME})(?:@(${REVISION}))?(?:/(.+\\.gguf))?$`, 'i');
/** As the hub's pages have it, without the first slash. */
const HUB_PATH = new RegExp(`^(${NAME})/(${NAME})(?:/(?:tree|blob|resolve)/([^/]+)(?:/(.*))?)?/?$`);

export type ModelAddress = { location: string } | { complaint: string };

/**
 * The address that the engine is given for what a person wrote: `owner/repo`, `owner/repo@revision`, `owner/repo/file.gguf`,
 * a page of the hub, an http(s) address, or one relative to `base` that begins with a dot or a slash.
 */
export function readModelAddress(text: string, base: string, hub = HUB): ModelAddress {
  const asked = text.trim();
  if (asked === '') return complain('Write the name of a repository, such as owner/name, or the address of a model.');
  if (asked.length > MAX_LENGTH) return complain(`This is too long for an address (${asked.length} characters).`);
  if (/[\p{C}\s\\]/u.test(asked)) return complain('An address has no spaces, backslashes or invisible characters.');
  const isHubName = [...HUB_HOSTS].some((host) => asked.toLowerCase().startsWith(`${host}/`));
  if (isHubName) return readUrl(`https://${asked}`, base, hub);
  if (/^([a-z][a-z0-9+.-]*:|\.{0,2}\/)/i.test(asked)) return readUrl(asked, base, hub);
  const [, owner, name, revision, file] = REPOSITORY.exec(asked) ?? [];
  if (owner && name) return onHub(hub, owner, name, revision ?? 'main', file ?? '');
  return complain(
    `“${shorten(asked)}” is neither a repository (owner/name, or owner/name/file.gguf) nor an address that begins with https://.`,
  );
}

function readUrl(asked: string, base: string, hub: string): ModelAddress {
  const url = URL.canParse(asked, base) ? new URL(asked, base) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return complain(`“${shorten(asked)}” is no address of a model: those begin with https:// or http://.`);
  }
  if (url.username || url.password) {
    return complain(
      'An address with a user name or password cannot be loaded. Use one without, or open the files instead.',
    );
  }
  if (url.protocol === 'http:' && !isNear(url, base)) {
    return complain('Models are loaded over https:// only, unless they are on this machine. Use an https address.');
  }
  url.hash = '';
  if (url.host === new URL(hub).host || HUB_HOSTS.has(url.hostname)) {
    const [, owner, name, revision, file] = HUB_PATH.exec(url.pathname.slice(1)) ?? [];
    if (!owner || !name || NO_OWNERS.has(owner)) {
      return complain(
        'This page of the hub is no model. Use the address of a model, such as huggingface.co/owner/name.',
      );
    }
    return onHub(hub, owner, name, decoded(revision ?? 'main'), decoded(file ?? ''));
  }
  return { location: url.href };
}

/** One spelling for one model, so that it is kept once. */
function onHub(hub: string, owner: string, name: string, revision: string, file: string): ModelAddress {
  const parts = [...revision.split('/'), ...file.split('/')];
  if (parts.includes('..') || parts.includes('.')) return complain('A path on the hub cannot climb (“..”).');
  if (NO_OWNERS.has(owner)) return complain(`“${owner}” is no owner of models on the hub.`);
  const path = file.split('/').map(encodeURIComponent).join('/');
  return { location: `${hub}/${owner}/${name}/resolve/${encodeURIComponent(revision)}/${path}` };
}

/** On this machine, or where the page itself comes from. */
function isNear(url: URL, base: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) || url.origin === new URL(base).origin;
}

/** The address as people would write it: short, and without what may be secret. */
export function showAddress(location: string, base: string): string {
  if (!URL.canParse(location)) return shorten(location);
  const url = new URL(location);
  const [, owner, name, revision, file] = HUB_HOSTS.has(url.hostname)
    ? (HUB_PATH.exec(url.pathname.slice(1)) ?? [])
    : [];
  if (owner) {
    const at = revision && revision !== 'main' ? `@${decoded(revision)}` : '';
    return `${owner}/${name}${at}${file ? `/${decoded(file)}` : ''}`;
  }
  const host = url.origin === new URL(base).origin ? '' : url.host;
  return host + decoded(url.pathname);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function complain(complaint: string): ModelAddress {
  return { complaint };
}
