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
 * Runs `work` exactly once: with the lock, or without it when none is granted. A lock may be held for long after
 * `work`, so this keeps no reference to the result.
 * @throws as `work`; the reason of `signal` when it aborts before the work begins
 */
async function inLock<T>(
  name: string,
  work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
  wait: Wait,
): Promise<T> {
  const leave = await enter(name, wait);
  const held: Promise<unknown>[] = [];
  try {
    wait.signal?.throwIfAborted();
    return await work((until) => held.push(until));
  } finally {
    void Promise.allSettled(held).then(leave);
  }
}

/** Waits for the lock, or for the end of the wait without it. Gives what releases it. Never rejects. */
function enter(name: string, { waits, limitMs, signal }: Wait): Promise<() => void> {
  return new Promise((entered) => {
    const over = new AbortController(); // takes the request back
    let stopWaiting = () => {};
    let hasBegun = false;
    const begin = () => {
      if (hasBegun) return;
      hasBegun = true;
      stopWaiting();
      signal?.removeEventListener('abort', end);
      return new Promise<void>((leave) => entered(leave));
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
