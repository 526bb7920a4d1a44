// Errors on both sides of the worker boundary. Structured clone keeps neither class nor code, so both travel as plain
// fields.

import { InvalidRequestError, VivaceError } from '../errors';
import type { WorkerFailure } from './protocol';

/**
 * @param stopped whether the caller stopped the work. If not, an AbortError is the browser's own: a failure like
 * others.
 */
export function toFailure(error: unknown, stopped = false): WorkerFailure {
  const e = error instanceof Error ? error : new Error(String(error));
  const details: WorkerFailure['details'] = {};
  for (const [key, value] of Object.entries(e)) {
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) details[key] = value;
  }
  const code = e instanceof VivaceError ? e.code : stopped && e.name === 'AbortError' ? 'abort' : 'internal';
  return { type: 'error', name: e.name, code, message: e.message, details };
}

/** The error on the caller's side, with the same name, code, message and numbers. An abort stays a DOMException. */
export function fromFailure(failure: WorkerFailure): Error {
  if (failure.code === 'abort') return new DOMException(failure.message, 'AbortError');
  const error = new VivaceError(failure.code, failure.message);
  Object.assign(error, failure.details);
  error.name = failure.name;
  return error;
}

/**
 * The error of a call that did not reach the worker. Arguments that structured clone refuses are the caller's, and so
 * are those nested too deeply for it.
 */
export function callError(error: unknown): unknown {
  const isRefused = error instanceof DOMException && error.name === 'DataCloneError';
  if (!(isRefused || error instanceof RangeError)) return error;
  return new InvalidRequestError(`The request cannot be sent to the worker. Pass plain data: ${error.message}`);
}
