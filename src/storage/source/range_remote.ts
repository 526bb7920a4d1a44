// A file on a server that answers range requests.

import { ModelFetchError } from '../../errors';
import { toHex } from '../cache/piece_store';
import type { OpenOptions } from './byte_source';
import {
  type Answer,
  ChangedFileError,
  get,
  type HttpTuning,
  isOwnOrigin,
  refuseWebPage,
  retryable,
  shown,
  tryAgain,
  WebPageError,
  withRetries,
} from './http';
import type { RemoteFile } from './remote';

/** Largest accepted file, 4 TiB: the records of its pieces take memory. */
const MAX_BYTES = 2 ** 42;

/** The size of the file by a Content-Range header. */
function sizeIn(contentRange: string, url: string, at: number, first: Answer): number {
  const size = Number(/^bytes \d+-\d+\/(\d{1,15})$/.exec(contentRange)?.[1] ?? 'NaN');
  if (size > at && size <= MAX_BYTES) return size;
  first.discard();
  const what =
    size > at ? `${size} bytes, where a file has ${MAX_BYTES} at most` : `unknown length ("${contentRange}")`;
  throw wrongRange(url, first, `a part of ${what}`);
}

/** The first and the last byte. */
type Range = readonly [first: number, last: number];

/**
 * Opens a file by ranges. `first` is the answer for the range from byte `at`. Every answer must have the requested
 * range and the same length and version.
 * @throws ModelFetchError for a wrong range, a web page, or as `get`
 */
export async function rangeRemote(
  url: string,
  at: number,
  first: Answer,
  contentRange: string,
  options: OpenOptions,
  tuning: HttpTuning,
): Promise<RemoteFile> {
  const size = sizeIn(contentRange, url, at, first);
  const version = versionOf(first);
  const ask = asker(url, first, options, tuning);

  async function fetchBytes(offset: number, length: number, opened?: Answer): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let done = 0; // a further attempt continues at this byte
    const attempt = async (broke?: Error) => {
      if (done === length) return; // the connection broke after the last byte
      const range = [offset + done, offset + length - 1] as const;
      const answer = opened ?? (await ask(range));
      opened = undefined;
      try {
        checkAnswer(url, answer, range, size, version);
      } catch (error) {
        answer.discard();
        if (error instanceof WebPageError) throw tryAgain(error);
        throw error instanceof ChangedFileError ? error : (broke ?? error);
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
    };
    await withRetries(tuning, options.signal, attempt, () => done);
    return bytes;
  }

  let start: Uint8Array<ArrayBuffer> | null = await fetchBytes(at, Math.min(tuning.windowBytes, size - at), first);
  if (at === 0) refuseWebPage(url, first, start);
  return {
    size,
    version,
    digest: digestOf(first),
    isWhole: false,
    async fetchRange(offset, length) {
      if (offset !== at || length !== start?.length) return fetchBytes(offset, length);
      const bytes = start;
      start = null; // returned once, then released
      return bytes;
    },
  };
}

/** Asks for ranges at the final URL of the last answer: a hub redirects to a store, with an address that expires. */
function asker(
  url: string,
  first: Answer,
  { signal }: OpenOptions,
  tuning: HttpTuning,
): (range: Range) => Promise<Answer> {
  const ifRange = ifRangeOf(url, first);
  let via = first.from;
  let isShort = true; // until `via` fails, for example because the store rejects pages
  return async (range) => {
    const tried = via === url ? null : get(url, range, tuning, signal, { via });
    const seen = await tried?.catch((error) => {
      via = url; // the address may have expired; the hub knows another
      if (error instanceof ModelFetchError) return null;
      isShort = false;
      throw error;
    });
    const answer = seen ?? (await get(url, range, tuning, signal, { ifRange }));
    if (isShort) via = answer.from;
    return answer;
  };
}

/** The version of a file: a strong or weak ETag, or the date if the ETag is absent or hidden by CORS. */
export function versionOf(answer: Answer): string {
  return answer.headers.get('etag') ?? answer.headers.get('last-modified') ?? '';
}

/**
 * The server's SHA-256 of a whole file in hex, or null. Source: RFC 9530, Repr-Digest. The digest covers the encoded
 * bytes, so that it cannot check a compressed answer.
 */
export function digestOf({ headers }: Answer): string | null {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') return null;
  const [, base64] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(headers.get('repr-digest') ?? '') ?? [];
  return base64 ? toHex(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))) : null;
}

/** The ETag that later ranges must match. On another origin the header would need a CORS preflight. */
function ifRangeOf(url: string, { from, headers }: Answer): string | undefined {
  const etag = headers.get('etag') ?? '';
  return isOwnOrigin(url) && from === url && etag.startsWith('"') ? etag : undefined;
}

function checkAnswer(url: string, answer: Answer, [first, last]: Range, size: number, version: string): void {
  refuseWebPage(url, answer);
  if (answer.status !== 206 && (versionOf(answer) || version) === version) {
    throw wrongRange(url, answer, 'the whole file, though it sent parts before');
  }
  const got = answer.headers.get('content-range');
  // The first request asks for a full window before the length is known; a short file answers with less.
  const expected = `bytes ${first}-${last}/${size}`;
  if (answer.status === 206 && got !== expected) {
    const what = `"${got}" where "${expected}" was due`;
    const isLength = got?.startsWith(`bytes ${first}-`) && !got.endsWith(`/${size}`);
    throw wrongRange(url, answer, what, isLength ? ChangedFileError : ModelFetchError);
  }
  if (versionOf(answer) !== version) {
    throw new ChangedFileError(
      url,
      answer.status,
      `${shown(url)} changed while it was read (version ${version}, then ${versionOf(answer)}). Load the model again.`,
    );
  }
}

function wrongRange(url: string, answer: Answer, what: string, Kind = ModelFetchError): ModelFetchError {
  return new Kind(
    url,
    answer.status,
    `${shown(url)} answered a range request with ${what}. Serve the model from a server that supports ranges.`,
  );
}
