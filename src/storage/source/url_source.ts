import { checkRange } from '../checks/bounds';
import type { ByteSource, FileKind, OpenOptions } from './byte_source';
import { type Connect, cachedRemote } from './cached_remote';
import { get, HTTP_TUNING, type HttpTuning, refuseWebPage, urlFileName, WebPageError, withRetries } from './http';
import { rangeRemote } from './range_remote';
import type { Remote } from './remote';
import { localHasher, WholeHash } from './whole_hash';
import { wholeRemote } from './whole_remote';
import { WindowCache, type WindowPool } from './window_cache';

/**
 * A file behind a URL, read by HTTP ranges as it is asked for. A server that ignores ranges is accepted: its answer,
 * the whole file, is then kept piece by piece. Every part must be the range asked for, of the same length and version.
 * @throws ModelFetchError for a status other than success, a web page, a wrong range, a changed file, a broken network
 */
export function urlSource(
  url: string,
  options: OpenOptions = {},
  tuning: HttpTuning = HTTP_TUNING,
): Promise<ByteSource> {
  const connecting = (at: number) => pastPage(() => connect(url, at, options, tuning));
  return openSource(url, connecting, options, tuning, options.windows);
}

/** A file behind a URL, fetched whole in one request, which may travel compressed. Text past 64 MB is refused. */
export function wholeUrlSource(
  url: string,
  kind: FileKind,
  options: OpenOptions = {},
  tuning: HttpTuning = HTTP_TUNING,
): Promise<ByteSource> {
  return openSource(url, () => pastPage(() => connectWhole(url, kind, options, tuning)), options, tuning);
}

/** A page in place of a file may be that of a gateway, or of a network that wants a login: it is asked once more before it is believed. */
async function pastPage<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof WebPageError)) throw error;
    return ask();
  }
}

async function openSource(
  url: string,
  connecting: Connect,
  options: OpenOptions,
  { windowBytes }: HttpTuning,
  pool?: WindowPool,
): Promise<ByteSource> {
  options.signal?.throwIfAborted();
  const { cache } = options;
  const name = urlFileName(url);
  const remote = cache ? await cachedRemote(url, connecting, windowBytes, { ...options, cache }) : await connecting(0);
  const { size } = remote;
  const windows = new WindowCache(size, windowBytes, checkedPart(url, remote, windowBytes, options), pool);
  return {
    name,
    size,
    async read(offset, length) {
      checkRange(name, size, offset, length);
      try {
        options.signal?.throwIfAborted();
        return await windows.read(offset, length);
      } catch (error) {
        await cache?.flush(); // what is here already is found by the next load
        throw error;
      }
    },
  };
}

/** The parts of a file, and an error with the last of them where the whole has not the hash that it should have. */
function checkedPart(
  url: string,
  { size, part, digest }: Remote,
  windowBytes: number,
  { hashes, cache, createHasher, sha256, onVerified }: OpenOptions,
): Remote['part'] {
  const expected = hashes?.get(url) ?? digest;
  const verified = () => void (expected === sha256 && onVerified?.());
  if (!expected || size === 0) return part;
  if (cache?.isVerified(url, expected)) {
    verified();
    return part;
  }
  const hasher = createHasher?.(size).then((made) => made ?? localHasher());
  const whole = new WholeHash(urlFileName(url), Math.ceil(size / windowBytes), expected, hasher);
  return async (offset, length) => {
    const bytes = await part(offset, length);
    try {
      if (await whole.add(offset / windowBytes, bytes)) {
        cache?.noteVerified(url, expected);
        verified();
      }
    } catch (error) {
      await cache?.drop(url);
      throw error;
    }
    return bytes;
  };
}

/** By ranges, the first of which begins at `at`. */
async function connect(url: string, at: number, options: OpenOptions, tuning: HttpTuning): Promise<Remote> {
  const first = await withRetries(tuning, options.signal, async () => {
    const answer = await get(url, [at, at + tuning.windowBytes - 1], tuning, options.signal);
    try {
      refuseWebPage(url, answer);
    } catch (error) {
      answer.discard();
      throw error;
    }
    return answer.status === 206 ? answer : wholeRemote(url, answer, 'weights', options, tuning.windowBytes);
  });
  if ('size' in first) return first;
  const range = first.headers.get('content-range');
  if (range === null) {
    // Another origin may hide Content-Range from us (Access-Control-Expose-Headers): then no part could be checked.
    first.discard();
    return connectWhole(url, 'weights', options, tuning);
  }
  return rangeRemote(url, at, first, range, options, tuning);
}

function connectWhole(url: string, kind: FileKind, options: OpenOptions, tuning: HttpTuning): Promise<Remote> {
  return withRetries(tuning, options.signal, async () => {
    const answer = await get(url, null, tuning, options.signal, { whole: options.httpCache });
    return wholeRemote(url, answer, kind, options, tuning.windowBytes);
  });
}
