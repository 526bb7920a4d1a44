// HTTP for model files: ranges, retries, stalls, and errors with a remedy.

import { ModelFetchError } from '../../errors';

/** Waits and sizes of the network code. Tests shorten them. */
export interface HttpTuning {
  /** Bytes of one aligned range request. */
  windowBytes: number;
  /** Waits before each further attempt after a broken connection, a 429 or a 5xx. */
  retryDelaysMs: readonly number[];
  /** A connection without data for this long counts as broken. */
  stallMs: number;
}

export const HTTP_TUNING: HttpTuning = {
  windowBytes: 4 * 1024 * 1024,
  retryDelaysMs: [250, 1000, 3000],
  stallMs: 30_000,
};

const MAX_RETRY_AFTER_MS = 10_000;

/** The server answered 2xx with an HTML page: a login form, or a single-page app that answers every path. */
export class WebPageError extends ModelFetchError {}

/** The file changed on the server during a load. A new load takes the new version. */
export class ChangedFileError extends ModelFetchError {}

/** Wraps an error worth another attempt. `cause` is thrown when the attempts are used up. */
class Retryable extends Error {
  readonly waitMs: number;

  constructor(cause: ModelFetchError, waitMs = 0) {
    super(cause.message, { cause });
    this.waitMs = waitMs;
  }
}

/** Gets the next bytes of a body. Their memory is used again once it, or its promise, is done. */
type OnChunk = (chunk: Uint8Array<ArrayBuffer>) => void | Promise<void>;

/** A response whose body is read chunk by chunk. */
export interface Answer {
  /** The final URL, after redirects. */
  from: string;
  status: number;
  headers: Headers;
  /** Reads the body to its end, or until `onChunk` throws. A broken body is retryable. */
  read(onChunk: OnChunk): Promise<void>;
  /** Drops the body and the connection. */
  discard(): void;
}

/**
 * Retries `attempt` with the given delays. The count of failures starts over whenever `progress` has grown, so that a
 * flaky line may fail any number of times as long as bytes arrive. An attempt gets the error that ended the last one.
 */
export async function withRetries<T>(
  tuning: HttpTuning,
  signal: AbortSignal | undefined,
  attempt: (broke?: Error) => Promise<T>,
  progress: () => number = () => 0,
): Promise<T> {
  let broke: Error | undefined;
  for (let tries = 0; ; tries++) {
    const reached = progress();
    try {
      signal?.throwIfAborted();
      return await attempt(broke);
    } catch (error) {
      signal?.throwIfAborted(); // throws the reason rather than the resulting AbortError
      if (!(error instanceof Retryable)) throw error;
      broke = error;
      if (progress() > reached) tries = 0;
      if (tries >= tuning.retryDelaysMs.length) throw error.cause;
      await wait(Math.max(tuning.retryDelaysMs[tries], error.waitMs), signal);
    }
  }
}

/** An error that `withRetries` retries. */
export function retryable(url: string, status: number | null, message: string, waitMs = 0): Error {
  return tryAgain(new ModelFetchError(url, status, message), waitMs);
}

/** Makes an existing error retryable. */
export function tryAgain(cause: ModelFetchError, waitMs = 0): Error {
  return new Retryable(cause, waitMs);
}

/**
 * Sends one GET for `url`, through the redirect target `via` if known. `range` is the first and last byte, or null for
 * the whole file, which the browser's HTTP cache may answer according to `whole`. `ifRange` is the expected version of
 * a range.
 * @returns an answer of status 200 or 206
 * @throws ModelFetchError with the status and a remedy for any other status, retryable where that may help
 */
export async function get(
  url: string,
  range: readonly [first: number, last: number] | null,
  tuning: HttpTuning,
  signal?: AbortSignal,
  { via = url, whole = 'default', ifRange }: { via?: string; whole?: RequestCache; ifRange?: string } = {},
): Promise<Answer> {
  const connection = openConnection(url, tuning, signal);
  // Chromium's HTTP cache repeats parallel range requests: a third more requests, at two thirds of the speed.
  const cache = range ? 'no-store' : whole;
  const headers: Record<string, string> = range ? { Range: `bytes=${range[0]}-${range[1]}` } : {};
  if (ifRange) headers['If-Range'] = ifRange;
  const response = await connection.wait(fetch(via, { cache, headers, signal: connection.signal }));
  if (response.status !== 200 && response.status !== 206) {
    connection.discard();
    throw refusal(url, response);
  }
  return {
    from: response.redirected ? response.url : via,
    status: response.status,
    headers: response.headers,
    discard: connection.discard,
    read: (onChunk) => readBody(response, connection, onChunk),
  };
}

type Connection = ReturnType<typeof openConnection>;

/** A connection that `signal` ends, or a stall. */
function openConnection(url: string, { stallMs }: HttpTuning, user?: AbortSignal) {
  const connection = new AbortController();
  const { signal } = connection;
  const stop = () => connection.abort();
  if (user?.aborted) stop();
  user?.addEventListener('abort', stop, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const finish = () => {
    clearTimeout(timer);
    user?.removeEventListener('abort', stop);
  };
  return {
    signal,
    /** Releases the timer and the listener. */
    finish,
    discard() {
      finish();
      stop();
    },
    /** The result of `work`. A failure is retryable, and so is the lack of a result for `stallMs`. */
    wait<T>(work: Promise<T>): Promise<T> {
      timer = setTimeout(stop, stallMs);
      const arrived = endingWith(signal, work).finally(() => clearTimeout(timer)); // what takes it may be slow
      return arrived.catch((error) => {
        finish();
        const why = signal.aborted ? `nothing arrived for ${stallMs} ms` : reasonOf(error);
        throw retryable(url, null, `${shown(url)} could not be fetched: ${why}. Check the connection${corsOf(url)}.`);
      });
    },
  };
}

async function readBody(response: Response, { wait, finish, discard }: Connection, onChunk: OnChunk): Promise<void> {
  const { body } = response;
  if (!body) return finish();
  const read = chunkReader(body);
  try {
    for (;;) {
      const part = await wait(read());
      if (part.done) return finish();
      await onChunk(part.value);
    }
  } catch (error) {
    discard();
    throw error;
  }
}

/** Most bytes of a chunk. */
const CHUNK_BYTES = 2 ** 20;

/**
 * Reads a body chunk by chunk into one buffer, so that chunks are no garbage, which a fast server would fill memory
 * with. In browsers without byte streams, every chunk has a buffer of its own.
 */
function chunkReader(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: 'byob' });
  } catch {
    const plain = body.getReader();
    return () => plain.read();
  }
  let buffer = new ArrayBuffer(CHUNK_BYTES);
  return async () => {
    const part = await reader.read(new Uint8Array(buffer));
    if (part.value) buffer = part.value.buffer;
    return part;
  };
}

/** The result of `work`. Rejects when the signal aborts, which some pending bodies ignore. */
function endingWith<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
  });
}

function refusal(url: string, response: Response): Error {
  const { status } = response;
  const at = shown(url);
  const answered = `${at} answered ${status}${response.statusText ? ` ${response.statusText}` : ''}`;
  if (status === 404 || status === 410) {
    return new ModelFetchError(url, status, `${at} was not found (${status}). Check the address of the model.`);
  }
  if (status === 401 || status === 403) {
    const why = 'The model may be private, gated or misspelled; download it and drop the files here instead.';
    return new ModelFetchError(url, status, `${answered}. ${why}`);
  }
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = Number(response.headers.get('retry-after'));
    const waitMs = seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : 0;
    return retryable(url, status, `${answered}. The server is busy or failing; try again later.`, waitMs);
  }
  return new ModelFetchError(url, status, `${answered}. Check the address of the model.`);
}

// Not any '<': a safetensors file may begin with that byte, and a chat template often does.
const HTML_START = /^(\xef\xbb\xbf)?\s*<(!doctype|html|head|body)\b/i;
const MARKUP_START = /^(\xef\xbb\xbf)?\s*</;
const HTML_TYPE = /^\s*(text\/html|application\/xhtml)/i;

/** Rejects a page of HTML by its type or its first bytes, since a server may send a missing or wrong type. */
export function refuseWebPage(
  url: string,
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  start: Uint8Array = new Uint8Array(0),
  json = false,
): void {
  const head = String.fromCharCode(...start.subarray(0, 64));
  const isPage = HTML_TYPE.test(headers.get('content-type') ?? '') || (json ? MARKUP_START : HTML_START).test(head);
  if (!isPage) return;
  const remedy = 'Check the address: it must lead to the files.';
  throw new WebPageError(url, status, `${shown(url)} answered with a web page instead of a model file. ${remedy}`);
}

/** A URL without its query, which may hold a signature. */
export function shown(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

/** The last segment of a URL's path, as a display name. */
export function urlFileName(url: string): string {
  const last = shown(url).replace(/\/+$/, '').split('/').at(-1) || url;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** True if a page may send any header to the URL; always so outside of pages. */
export function isOwnOrigin(url: string): boolean {
  return globalThis.location === undefined || globalThis.location.origin === new URL(url).origin;
}

/** A browser reports an unreachable server and one without CORS headers alike. */
function corsOf(url: string): string {
  const { host } = new URL(url);
  return isOwnOrigin(url) ? ' and try again' : `, and that ${host} lets pages of other origins read its files (CORS)`;
}

/** The error below fetch, which Node hides in `cause`. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return cause?.message || message || String(error);
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return endingWith(signal, over).finally(() => clearTimeout(timer));
}
