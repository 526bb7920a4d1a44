// Waits that a signal ends.

import { InvalidRequestError } from '../errors';

/** Settles as `promise`, or rejects with the signal's reason, whichever is first. */
export async function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    settled.abort();
  }
}

/** A caller may pass an AbortController itself. @throws InvalidRequestError */
export function checkSignal(signal?: AbortSignal): void {
  if (signal && !signal.addEventListener) throw new InvalidRequestError('signal must be an AbortSignal.', 'signal');
}
