// Turns among the tabs that load one model, by the browser's locks. They save downloads and order writes; no load depends on them:
// where there are none, or they refuse, throw or break, the work is done all the same.

export interface Presence {
  others: boolean;
  leave(): void;
}

const TURN_MS = 60_000;

/** The browser's locks; null on pages that are not secure, and in frames that may not ask for them. */
function locks(): LockManager | null {
  try {
    return navigator.locks ?? null;
  } catch {
    return null;
  }
}

/**
 * Runs `work` once: in a lock's callback, where `request` calls it, and without one where it does not.
 * @throws as `work`; the reason of `signal` when it aborts before the work has begun
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
    asked().then(begin, begin); // a lock that broke while the work went on changes nothing
  });
}

/** See `ManifestStore`. */
export function alone(work: () => Promise<void>): Promise<void> {
  return inLock((manager, begin) => manager.request('vivace-models', begin), work);
}

/** See `ManifestStore`. */
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

/** See `ManifestStore`: of tabs that come at a time one is the first, and the others know it. */
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
