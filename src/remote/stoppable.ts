// Answers that end when their reader aborts or leaves, also while nothing comes.

import type { EngineEvent } from '../engine/protocol';
import { checkSignal } from '../shared/abortable';

export type Answers = AsyncGenerator<EngineEvent, void, undefined>;

/** @param running has the controller of what runs; @param make gets the signal that ends whatever it begins */
export function stoppable(
  running: Set<AbortController>,
  signal: AbortSignal | undefined,
  make: (stop: AbortSignal) => Answers,
): Answers {
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  async function* all(): Answers {
    checkSignal(signal);
    running.add(stop);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    try {
      yield* make(stop.signal);
    } finally {
      stop.abort(); // whatever still runs
      signal?.removeEventListener('abort', onAbort);
      running.delete(stop);
    }
  }
  const made = all();
  const end = made.return.bind(made);
  // By itself a generator returns after the event that it waits for, which may never come.
  made.return = (value) => {
    onAbort();
    return end(value);
  };
  return made;
}
