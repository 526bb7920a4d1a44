// Errors across the worker boundary: structured clone keeps neither class nor code, so both travel as plain fields.

import { VivaceError } from '../errors';
import type { WorkerFailure } from './protocol';

export function toFailure(error: unknown): WorkerFailure {
  const e = error instanceof Error ? error : new Error(String(error));
  const details: WorkerFailure['details'] = {};
  for (const [key, value] of Object.entries(e)) {
    if (typeof value === 'string' || typeof value === 'number' || value === null) details[key] = value;
  }
  const code = e instanceof VivaceError ? e.code : e.name === 'AbortError' ? 'abort' : 'internal';
  return { type: 'error', name: e.name, code, message: e.message, details };
}

/** The error on the caller's side: same name, code, message and numbers; an abort stays a DOMException. */
export function fromFailure(failure: WorkerFailure): Error {
  if (failure.code === 'abort') return new DOMException(failure.message, 'AbortError');
  const error = new VivaceError(failure.code, failure.message);
  Object.assign(error, failure.details);
  error.name = failure.name;
  return error;
}
