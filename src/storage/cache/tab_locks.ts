// Locks among the tabs that load one model. They save downloads and order writes, but no load depends on them: if locks
// are missing, refused, broken or held by a tab that hangs, the work runs all the same.

import { TabWaits } from './tab_waits';

export interface Presence {
  others: boolean;
  leave(): void;
}

/** Longest wait for another tab that fetches the same piece. */
const TURN_MS = 60_000;
/** Longest wait for another tab that writes records, which takes milliseconds. */
const ALONE_MS = 5000;

/** The browser's locks. Null on insecure pages and in frames without permission. */
function locks(): LockManager | null {
  try {
    return navigator.locks ?? null;
  } catch {
    return null;
  }
}

interface Wait {
  waits: TabWaits;
  limitMs: number;
  signal?: AbortSignal;
}

/**
 * Runs `work` exactly once: in the lock's callback, or without a lock when none is granted.
 * @throws as `work`; the reason of `signal` when it aborts before the work begins
 */
function inLock<T>(
  name: string,
  work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
  { waits, limitMs, signal }: Wait,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const over = new AbortController(); // takes the request back
    let stopWaiting = () => {};
    let hasBegun = false;
    const begin = async () => {
      if (hasBegun) return;
      hasBegun = true;
      stopWaiting();
      signal?.removeEventListener('abort', end);
      const held: Promise<unknown>[] = [];
      const turned = async () => {
        signal?.throwIfAborted();
        return work((until) => held.push(until));
      };
      const working = turned();
      working.then(resolve, reject);
      await working.catch(() => {});
      await Promise.allSettled(held);
    };
    const end = () => {
      void begin();
      over.abort();
    };
    const manager = waits.isAlone || signal?.aborted ? null : locks();
    if (!manager) return void begin();
    stopWaiting = waits.begin(end, limitMs);
    signal?.addEventListener('abort', end);
    const asked = async () => manager.request(name, { signal: over.signal }, begin);
    asked().then(begin, begin); // a lock that breaks during the work changes nothing
  });
}

/** Implements `ManifestStore.alone`. */
export function alone(work: () => Promise<void>, waits = new TabWaits()): Promise<void> {
  return inLock('vivace-models', work, { waits, limitMs: ALONE_MS });
}

/** Implements `ManifestStore.turn`. */
export function turn<T>(
  name: string,
  work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
  waits = new TabWaits(),
  signal?: AbortSignal,
): Promise<T> {
  return inLock(`vivace ${name}`, work, { waits, limitMs: TURN_MS, signal });
}

/** Implements `ManifestStore.join`. Of tabs that join at the same time, one comes first. */
export async function join(name: string): Promise<Presence> {
  const nobody = { others: false, leave() {} };
  const manager = locks();
  if (!manager) return nobody;
  return new Promise((joined) => {
    const at = (lock: Lock | null) => {
      if (!lock) return joined({ others: true, leave() {} });
      return new Promise<void>((leave) => joined({ others: false, leave }));
    };
    const asked = async () => manager.request(`vivace at ${name}`, { ifAvailable: true }, at);
    asked().catch(() => joined(nobody));
  });
}
