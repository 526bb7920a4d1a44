// Locks among the tabs that load one model. They save downloads and order writes, but no load depends on them: if locks
// are missing, refused or broken, the work runs all the same.

export interface Presence {
  others: boolean;
  leave(): void;
}

const TURN_MS = 60_000;

/** The browser's locks. Null on insecure pages and in frames without permission. */
function locks(): LockManager | null {
  try {
    return navigator.locks ?? null;
  } catch {
    return null;
  }
}

/**
 * Runs `work` exactly once: in the lock's callback, or without a lock when none is granted.
 * @throws as `work`; the reason of `signal` when it aborts before the work begins
 */
function inLock<T>(
  request: (manager: LockManager, callback: () => Promise<void>) => Promise<unknown>,
  work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let hasBegun = false;
    const begin = async () => {
      if (hasBegun) return;
      hasBegun = true;
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
    const manager = locks();
    const asked = async () => manager && (await request(manager, begin));
    asked().then(begin, begin); // a lock that breaks during the work changes nothing
  });
}

/** Implements `ManifestStore.alone`. */
export function alone(work: () => Promise<void>): Promise<void> {
  return inLock((manager, begin) => manager.request('vivace-models', begin), work);
}

/** Implements `ManifestStore.turn`. */
export function turn<T>(
  name: string,
  work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const request = (manager: LockManager, begin: () => Promise<void>) => {
    const patience = AbortSignal.timeout(TURN_MS);
    const options = { signal: signal ? AbortSignal.any([signal, patience]) : patience };
    return manager.request(`vivace ${name}`, options, begin);
  };
  return inLock(request, work, signal);
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
