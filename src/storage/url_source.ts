import { ModelFetchError } from '../errors';
import { blobSource } from './blob_source';
import { checkRange, checkTextSize } from './bounds';
import { type Answer, get, HTTP_TUNING, type HttpTuning, refuseWebPage, retryable, shown, withRetries } from './http';
import type { ByteSource, FileKind, OpenOptions } from './source';
import { WindowCache } from './window_cache';

/** Chunks are joined to blobs of this size, which the browser may keep outside this thread's heap. */
const BLOB_PART_BYTES = 4 * 1024 * 1024;

/**
 * A file behind a URL, read by HTTP ranges as it is asked for. A server that ignores ranges is accepted: its answer,
 * the whole file, is then kept in a Blob. Every part must be the range asked for, of the same length and version.
 * @throws ModelFetchError for a status other than success, a web page, a wrong range, a changed file, a broken network
 */
export async function urlSource(
  url: string,
  options: OpenOptions = {},
  tuning: HttpTuning = HTTP_TUNING,
): Promise<ByteSource> {
  const first = await withRetries(tuning, options.signal, async () => {
    const answer = await get(url, [0, tuning.windowBytes - 1], tuning, options.signal);
    try {
      refuseWebPage(url, answer);
    } catch (error) {
      answer.discard();
      throw error;
    }
    return answer.status === 206 ? answer : keepWhole(url, answer, 'weights', options);
  });
  if ('size' in first) return first;
  const range = first.headers.get('content-range');
  if (range === null) {
    // Another origin may hide Content-Range from us (Access-Control-Expose-Headers): then no part could be checked.
    first.discard();
    return wholeUrlSource(url, 'weights', options, tuning);
  }
  return rangeSource(url, first, range, options, tuning);
}

/** A file behind a URL, fetched whole in one request, which may travel compressed. Text past 64 MB is refused. */
export function wholeUrlSource(
  url: string,
  kind: FileKind,
  options: OpenOptions = {},
  tuning: HttpTuning = HTTP_TUNING,
): Promise<ByteSource> {
  return withRetries(tuning, options.signal, async () => {
    const answer = await get(url, null, tuning, options.signal);
    return keepWhole(url, answer, kind, options);
  });
}

/** The last part of a URL's path, as a name for people. */
export function urlFileName(url: string): string {
  const last = shown(url).replace(/\/+$/, '').split('/').at(-1) || url;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

async function rangeSource(
  url: string,
  first: Answer,
  contentRange: string,
  options: OpenOptions,
  tuning: HttpTuning,
): Promise<ByteSource> {
  const size = Number(/^bytes \d+-\d+\/(\d{1,15})$/.exec(contentRange)?.[1] ?? 'NaN');
  const version = versionOf(first);
  if (!(size > 0)) {
    first.discard();
    throw wrongRange(url, first, `a part of unknown length ("${contentRange}")`);
  }

  async function part(offset: number, length: number, opened?: Answer): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let done = 0; // a further attempt goes on where the last one broke off
    await withRetries(tuning, options.signal, async () => {
      const range = [offset + done, offset + length - 1] as const;
      const answer = opened ?? (await get(url, range, tuning, options.signal));
      opened = undefined;
      try {
        checkPart(url, answer, range, size, version);
      } catch (error) {
        answer.discard();
        throw error;
      }
      await answer.read((chunk) => {
        if (done + chunk.length > length) throw wrongRange(url, answer, `more than the ${length} bytes announced`);
        bytes.set(chunk, done);
        done += chunk.length;
        options.onBytes?.(chunk.length);
      });
      if (done < length) {
        throw retryable(url, answer.status, `${shown(url)} sent ${done} of ${length} bytes at ${offset}. Try again.`);
      }
    });
    return bytes;
  }

  const windows = new WindowCache(size, tuning.windowBytes, part);
  const start = await part(0, Math.min(tuning.windowBytes, size), first);
  refuseWebPage(url, first, start);
  windows.seed(start);
  const name = urlFileName(url);
  return {
    name,
    size,
    async read(offset, length) {
      options.signal?.throwIfAborted();
      checkRange(name, size, offset, length);
      return windows.read(offset, length);
    },
  };
}

/** What names a file's version: a strong or weak ETag, or its date where the ETag is absent or hidden from us. */
function versionOf(answer: Answer): string {
  return answer.headers.get('etag') ?? answer.headers.get('last-modified') ?? '';
}

function checkPart(
  url: string,
  answer: Answer,
  [first, last]: readonly [number, number],
  size: number,
  version: string,
): void {
  if (answer.status !== 206) throw wrongRange(url, answer, 'the whole file, though it sent parts before');
  const got = answer.headers.get('content-range');
  // The first request asks for a full window before the length is known; a short file then answers with less.
  const expected = `bytes ${first}-${last}/${size}`;
  if (got !== expected) throw wrongRange(url, answer, `"${got}" where "${expected}" was due`);
  if (versionOf(answer) !== version) {
    throw new ModelFetchError(
      url,
      answer.status,
      `${shown(url)} changed while it was read (version ${version}, then ${versionOf(answer)}). Load the model again.`,
    );
  }
}

function wrongRange(url: string, answer: Answer, what: string): ModelFetchError {
  return new ModelFetchError(
    url,
    answer.status,
    `${shown(url)} answered a range request with ${what}. Serve the model from a server that supports ranges.`,
  );
}

/** Reads a whole body into a Blob, counting as it arrives. */
async function keepWhole(url: string, answer: Answer, kind: FileKind, options: OpenOptions): Promise<ByteSource> {
  const name = urlFileName(url);
  const parts: Blob[] = [];
  let pending: Uint8Array<ArrayBuffer>[] = [];
  let pendingBytes = 0;
  let size = 0;
  const flush = () => {
    parts.push(new Blob(pending));
    pending = [];
    pendingBytes = 0;
  };
  try {
    refuseWebPage(url, answer);
  } catch (error) {
    answer.discard();
    throw error;
  }
  await answer.read((chunk) => {
    if (size === 0) refuseWebPage(url, answer, chunk, kind === 'json');
    size += chunk.length;
    if (kind !== 'weights') checkTextSize(name, size);
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes >= BLOB_PART_BYTES) flush();
    options.onBytes?.(chunk.length);
  });
  flush();
  return blobSource(name, new Blob(parts), { signal: options.signal });
}
