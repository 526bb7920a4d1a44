// Files behind a URL: network, cache, windows and hash check put together.

import { arrived } from '../../shared/part';
import { checkRange } from '../checks/bounds';
import type { ByteSource, FileKind, OpenOptions } from './byte_source';
import { type Connect, cachedRemote } from './cached_remote';
import {
  type Answer,
  get,
  HTTP_TUNING,
  type HttpTuning,
  refuseWebPage,
  urlFileName,
  WebPageError,
  withRetries,
} from './http';
import { rangeRemote } from './range_remote';
import type { RemoteFile } from './remote';
import { localHasher, WholeHash } from './whole_hash';
import { WindowCache, type WindowPool } from './window_cache';

/**
 * A file behind a URL, read on request by HTTP ranges. If a server ignores ranges, its answer, the whole file, is
 * stored piece by piece. Every answer must have the requested range and the same length and version.
 * @throws ModelFetchError for an unsuccessful status, a web page, a wrong range, a changed file, a broken network
 */
export function urlSource(
  url: string,
  options: OpenOptions = {},
  tuning: HttpTuning = HTTP_TUNING,
): Promise<ByteSource> {
  const connecting = (at: number) => pastPage(() => connect(url, at, options, tuning));
  return openSource(url, connecting, options, tuning, options.windows);
}

/** A file behind a URL, fetched whole in one request, which may travel compressed. Text past 64 MB is rejected. */
export function wholeUrlSource(
  url: string,
  kind: FileKind,
  options: OpenOptions = {},
  tuning: HttpTuning = HTTP_TUNING,
): Promise<ByteSource> {
  return openSource(url, () => pastPage(() => connectWhole(url, kind, options, tuning)), options, tuning);
}

/** Retries once when a page of HTML arrives instead of a file: a gateway or a network login may have answered. */
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
  const windows = new WindowCache(size, windowBytes, hashChecked(url, remote, windowBytes, options), pool);
  return {
    name,
    size,
    async read(offset, length, into) {
      checkRange(name, size, offset, length);
      try {
        options.signal?.throwIfAborted();
        return await windows.read(offset, length, into);
      } catch (error) {
        await cache?.flush(); // the next load finds the bytes fetched so far
        throw error;
      }
    },
  };
}

/** Wraps the reads of a file. The read that completes the file throws if its SHA-256 is wrong. */
function hashChecked(
  url: string,
  { size, fetchRange, digest }: RemoteFile,
  windowBytes: number,
  { hashes, cache, createHasher, sha256, onVerified }: OpenOptions,
): RemoteFile['fetchRange'] {
  const expected = hashes?.get(url) ?? digest;
  const verified = () => void (expected === sha256 && onVerified?.());
  if (!expected || size === 0) return fetchRange;
  if (cache?.isVerified(url, expected)) {
    verified();
    return fetchRange;
  }
  const hasher = createHasher?.(size).then((made) => made ?? localHasher());
  const whole = new WholeHash(urlFileName(url), Math.ceil(size / windowBytes), expected, hasher);
  return async (offset, length) => {
    const bytes = await fetchRange(offset, length);
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

/** Other schemes may know no ranges: an extension's answer to one is its bytes, with the status of a whole file. */
const HAS_RANGES = /^(?:https?|blob):/;

/** Opens a file by ranges, the first at byte `at`. */
async function connect(url: string, at: number, options: OpenOptions, tuning: HttpTuning): Promise<RemoteFile> {
  if (!HAS_RANGES.test(url)) return connectWhole(url, 'weights', options, tuning);
  const first = await withRetries(tuning, options.signal, async () => {
    const answer = await get(url, [at, at + tuning.windowBytes - 1], tuning, options.signal);
    try {
      refuseWebPage(url, answer);
    } catch (error) {
      answer.discard();
      throw error;
    }
    return answer.status === 206 ? answer : arriving(url, answer, 'weights', options, tuning);
  });
  if ('size' in first) return first;
  const range = first.headers.get('content-range');
  if (range === null) {
    // Another origin may hide Content-Range (Access-Control-Expose-Headers), so that no range could be checked.
    first.discard();
    return connectWhole(url, 'weights', options, tuning);
  }
  return rangeRemote(url, at, first, range, options, tuning);
}

function connectWhole(url: string, kind: FileKind, options: OpenOptions, tuning: HttpTuning): Promise<RemoteFile> {
  return withRetries(tuning, options.signal, async () => {
    const answer = await get(url, null, tuning, options.signal, { whole: options.httpCache });
    return arriving(url, answer, kind, options, tuning);
  });
}

/** The file of an answer without ranges: few servers know none. */
async function arriving(url: string, answer: Answer, kind: FileKind, options: OpenOptions, tuning: HttpTuning) {
  const { wholeRemote } = await arrived(import('./whole_remote'));
  return wholeRemote(url, answer, kind, options, tuning.windowBytes);
}
