// Answers that are errors, as typed errors with a remedy.

import { InvalidRequestError, VivaceError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { isLoopback } from '../options';
import { RemoteError } from '../remote_error';
import { errorText, malformed, objectIn, parseObject, textIn } from './bounded_json';

/** Statuses of a server that was too busy to begin. */
const BUSY: readonly (number | null)[] = [429, 503];
/** A server that asks for a longer wait than this is left alone. */
const MAX_WAIT_MS = 30_000;

/** @param text the body, or its beginning; @param hasKey whether one was sent */
export function statusFailure(response: Response, text: string, hasKey: boolean, nowMs: number): VivaceError {
  const { status, headers } = response;
  const body = isHtml(headers, text) ? null : attempt(text);
  const said = body ? errorText(body) : '';
  const quote = said ? ` It says: ${said}` : '';
  if (status === 401 || status === 403) {
    const what = hasKey ? 'refuses the key' : 'wants a key';
    const remedy = hasKey ? 'Check the key and what it may do.' : 'Pass it as apiKey.';
    return new RemoteError('server-key', `The server ${what} (status ${status}). ${remedy}${quote}`, { status });
  }
  if (BUSY.includes(status)) {
    const retryAfterMs = retryAfter(headers.get('retry-after'), nowMs);
    const message = `The server is too busy or not ready yet (status ${status}). Try again later.${quote}`;
    const canRetry = headers.get('x-should-retry') !== 'false';
    return new RemoteError('server-busy', message, { status, retryAfterMs, canRetry });
  }
  if (status === 404 || status === 405) {
    const remedy = 'Check the address, which mostly ends with /v1, and the name of the model.';
    const message = `The server knows no such address or model (status ${status}). ${remedy}${quote}`;
    return new RemoteError('server-failed', message, { status, canRetry: false });
  }
  if (status >= 400 && status < 500 && body) return refusal(body, said, status);
  const page = body ? '' : ' with a page that is none of this interface';
  return new RemoteError('server-failed', `The server failed${page} (status ${status}).${quote}`, { status });
}

const OVERFLOW = /context.{0,12}(length|size|window)|maximum context|longer than the model/i;

/** A request that the server refused, or an error in the middle of an answer. */
function refusal(body: JsonObject, said: string, status: number): VivaceError {
  const { code, type } = { ...body, ...objectIn(body, 'error') };
  const isOverflow = code === 'context_length_exceeded' || type === 'exceed_context_size_error' || OVERFLOW.test(said);
  if (!isOverflow)
    return new InvalidRequestError(
      `The server refuses the request (status ${status}). ${said || 'It says no reason.'}`,
    );
  const remedy = 'Shorten the prompt or start a new conversation.';
  return new VivaceError(
    'context-overflow',
    `The prompt does not fit the server's context. ${remedy} It says: ${said}`,
  );
}

/** An error that came as an event of an answer. */
export function eventFailure(body: JsonObject): VivaceError {
  const said = errorText(body);
  const code = textIn(objectIn(body, 'error'), 'code');
  if (code === 'context_length_exceeded' || OVERFLOW.test(said)) return refusal(body, said, 200);
  return new RemoteError(
    'server-failed',
    `The server failed in the middle of its answer. ${said || 'It says no reason.'}`,
  );
}

/** @throws RemoteError where an accepted answer has another type than the one asked for */
export function assertType(response: Response, type: string): void {
  const given = response.headers.get('content-type') ?? '';
  if (given.toLowerCase().startsWith(type)) return;
  const what = /html/i.test(given)
    ? 'answered with a web page'
    : `answered with ${given.slice(0, 80) || 'no type'}, not ${type}`;
  throw malformed(what);
}

/** No answer at all. A browser does not tell a script which of the reasons it was. */
export function unreachable(address: string): RemoteError {
  const { host, hostname, protocol, origin } = new URL(address);
  const page = globalThis.location;
  const isMixed = page?.protocol === 'https:' && protocol === 'http:' && !isLoopback(hostname);
  const mixed = isMixed ? 'A page from https: may not ask a server at http:; give the server a certificate. ' : '';
  const isOther = page !== undefined && page.origin !== origin;
  const cors = isOther ? `, and that it allows pages of ${page.origin} (CORS; vLLM: --allowed-origins)` : '';
  const remedy = `Check that it runs, that the address is right and does not redirect${cors}.`;
  return new RemoteError('server-unreachable', `No answer from ${host} reached this page. ${mixed}${remedy}`, { host });
}

/** The wait before the next try, or null if there is none. Without a word of the server's it doubles. */
export function waitBefore(failure: VivaceError, tries: number): number | null {
  if (!(failure instanceof RemoteError) || !failure.canRetry || !BUSY.includes(failure.status)) return null;
  const ms = failure.retryAfterMs ?? 500 * 2 ** tries;
  return ms <= MAX_WAIT_MS ? ms : null;
}

/** Seconds, of some servers with a fraction, or a date. @param nowMs since 1970 */
function retryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\s*\d{1,9}(\.\d*)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function isHtml(headers: Headers, text: string): boolean {
  return /html/i.test(headers.get('content-type') ?? '') || /^\s*</.test(text);
}

function attempt(text: string): JsonObject | null {
  try {
    return parseObject(text);
  } catch {
    return null;
  }
}
