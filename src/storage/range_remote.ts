import { ModelFetchError } from '../errors';
import { type Answer, get, type HttpTuning, refuseWebPage, retryable, shown, withRetries } from './http';
import type { OpenOptions } from './source';
import type { Remote } from './url_source';

/** 4 TiB: what is known of a file's parts takes memory for each. */
const MAX_BYTES = 2 ** 42;

/**
 * A file that is read by ranges, of which the `first` answer, from byte `at`, is here. Every part must be the range asked for, of the same
 * length and version.
 * @throws ModelFetchError for a wrong range, a web page, or as `get`
 */
export async function rangeRemote(
  url: string,
  at: number,
  first: Answer,
  contentRange: string,
  options: OpenOptions,
  tuning: HttpTuning,
): Promise<Remote> {
  const size = Number(/^bytes \d+-\d+\/(\d{1,15})$/.exec(contentRange)?.[1] ?? 'NaN');
  const version = versionOf(first);
  /** Where the last part came from: a hub sends everyone on to a store, by an address that expires. */
  let via = first.from;
  let isShort = true; // until that way fails: it may not be open to pages
  if (!(size > at)) {
    first.discard();
    throw wrongRange(url, first, `a part of unknown length ("${contentRange}")`);
  }
  if (size > MAX_BYTES) {
    first.discard();
    throw wrongRange(url, first, `a part of ${size} bytes, where a file has ${MAX_BYTES} at most`);
  }

  async function getVia(range: readonly [number, number]): Promise<Answer> {
    const tried = via === url ? null : get(url, range, tuning, options.signal, via);
    const seen = await tried?.catch((error) => {
      via = url; // its address may have expired: the hub knows another
      if (error instanceof ModelFetchError) return null;
      isShort = false;
      throw error;
    });
    const answer = seen ?? (await get(url, range, tuning, options.signal));
    if (isShort) via = answer.from;
    return answer;
  }

  async function fetchPart(offset: number, length: number, opened?: Answer): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let done = 0; // a further attempt goes on where the last one broke off
    const attempt = async () => {
      const range = [offset + done, offset + length - 1] as const;
      const answer = opened ?? (await getVia(range));
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
    };
    await withRetries(tuning, options.signal, attempt, () => done);
    return bytes;
  }

  let start: Uint8Array<ArrayBuffer> | null = await fetchPart(at, Math.min(tuning.windowBytes, size - at), first);
  if (at === 0) refuseWebPage(url, first, start);
  return {
    size,
    version,
    isWhole: false,
    async part(offset, length) {
      if (offset !== at || length !== start?.length) return fetchPart(offset, length);
      const bytes = start;
      start = null; // handed over, once
      return bytes;
    },
  };
}

/** What names a file's version: a strong or weak ETag, or its date where the ETag is absent or hidden from us. */
export function versionOf(answer: Answer): string {
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
