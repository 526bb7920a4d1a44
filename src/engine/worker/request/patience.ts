// The word to the page before work that blocks this thread, so that the page does not take the worker for dead.

import type { PatienceMessage } from '../../protocol';

/**
 * Five times what a character or a token costs on a phone, which is ten times slower than a laptop: 5 µs there, from
 * text to ids.
 */
const MS_EACH = 0.25;
/** A page waits this long without a word. */
const SHORT_MS = 1500;

/** Does work of so many characters or tokens, in the open if it may take long. */
export function patiently<Result>(size: number, work: () => Result): Result {
  const patienceMs = size * MS_EACH;
  if (patienceMs <= SHORT_MS) return work();
  tell({ patienceMs });
  try {
    return work();
  } finally {
    tell({ patienceMs: 0 });
  }
}

function tell(message: PatienceMessage): void {
  globalThis.postMessage?.(message);
}
