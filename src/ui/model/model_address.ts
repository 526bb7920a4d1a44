// Reads the address of a model as people write it: a repository of the Hugging Face hub, or a URL. Pure.

import { HUB, hubLocation, isHubHost, mayOwn, parseHubId, readHubUrl, showHubAddress } from '../../engine/engine';

import { pageWords } from '../../words/page_words';

const HUB_NAME = /^(?:www\.)?(?:huggingface\.co|hf\.co)\//i;
const MAX_LENGTH = 2048;

export type ModelAddress = { location: string } | { complaint: string };

/**
 * The location that the engine takes for a typed address: `owner/repo`, `owner/repo@revision`, `owner/repo/file.gguf`
 * or `owner/repo:Q4_K_M`, each with or without `hf:` in front, a page of the hub, an http(s) address, or an address
 * relative to `base` that begins with a dot or a slash.
 */
export function readModelAddress(text: string, base: string, hub = HUB): ModelAddress {
  const asked = text.trim();
  const why = pageWords().address;
  if (asked === '') return complain(why.empty);
  if (asked.length > MAX_LENGTH) return complain(why.tooLong(asked.length));
  if (/[\p{C}\s\\]/u.test(asked)) return complain(why.letters);
  if (HUB_NAME.test(asked)) return readUrl(`https://${asked}`, base, hub);
  if (!/^hf:/i.test(asked) && /^([a-z][a-z0-9+.-]*:|\.{0,2}\/)/i.test(asked)) return readUrl(asked, base, hub);
  const address = parseHubId(asked);
  if (address) return { location: hubLocation(hub, address) };
  if (climbs(asked)) return complain(why.climbs);
  const owner = asked.replace(/^hf:/i, '').split('/')[0];
  if (!mayOwn(owner)) return complain(why.noOwner(shorten(owner)));
  return complain(why.neither(shorten(asked)));
}

function readUrl(asked: string, base: string, hub: string): ModelAddress {
  const why = pageWords().address;
  const url = URL.canParse(asked, base) ? new URL(asked, base) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return complain(why.noAddress(shorten(asked)));
  }
  if (url.username || url.password) {
    return complain(why.password);
  }
  if (url.protocol === 'http:' && !isNear(url, base)) {
    return complain(why.insecure);
  }
  const onHub = readHubUrl(url, hub);
  if (onHub) return { location: hubLocation(onHub.hub, onHub.address) };
  if (isHubHost(url.hostname) || url.origin === new URL(hub).origin) {
    if (climbs(decoded(url.pathname))) return complain(why.climbs);
    return complain(why.noModel);
  }
  url.hash = '';
  return { location: url.href };
}

function climbs(path: string): boolean {
  return path.split('/').some((part) => part === '..' || part === '.');
}

/** True for URLs of this machine and of the page's own origin. */
function isNear(url: URL, base: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) || url.origin === new URL(base).origin;
}

/** The address as people would write it: short, and without the query, which may hold secrets. */
export function showAddress(location: string, base: string): string {
  if (!URL.canParse(location)) return shorten(location);
  const url = new URL(location);
  const onHub = isHubHost(url.hostname) ? readHubUrl(url) : null;
  if (onHub) return showHubAddress(onHub.address);
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
