// Manifests in IndexedDB, in a database of their own.

import { createStore, entries, get, promisifyRequest } from 'idb-keyval';

/** Values by key. They are untrusted: parse them. */
export interface ManifestStore {
  get(key: string): Promise<unknown>;
  /** Replaces a value by what `change` makes of it, with no other tab in between; undefined removes it. */
  update(key: string, change: (old: unknown) => unknown): Promise<void>;
  entries(): Promise<[key: unknown, value: unknown][]>;
  remove(keys: readonly unknown[]): Promise<void>;
  /**
   * One piece of work at a time among all tabs, where the browser has locks. Elsewhere a deletion may miss what is written
   * meanwhile: the next one finds it.
   */
  alone(work: () => Promise<void>): Promise<void>;
  /**
   * As `alone`, for work on what `name` names alone, whose outcome is given back before its turn ends: that lasts until what is
   * passed to `hold` settles, too. Who waits longer than a minute, for a tab that hangs perhaps, goes on out of turn.
   * @throws as `work`; the signal's reason when it aborts while waiting
   */
  turn<T>(
    name: string,
    work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Says to other tabs that this one is at what `name` names, until `leave`. `others`: another tab was there before. */
  join(name: string): Promise<Presence>;
}

export interface Presence {
  others: boolean;
  leave(): void;
}

const TURN_MS = 60_000;

/** The browser's locks; none on pages that are not secure. */
const locks = () => navigator.locks as LockManager | undefined;

export function idbManifests(): ManifestStore {
  const database = createStore('vivace-models', 'manifests');
  return {
    get: (key) => get<unknown>(key, database),
    entries: () => entries<IDBValidKey, unknown>(database),
    update: (key, change) =>
      database('readwrite', (store) => {
        const request = store.get(key);
        request.onsuccess = () => {
          const value = change(request.result);
          if (value === undefined) store.delete(key);
          else store.put(value, key);
        };
        return promisifyRequest<undefined>(store.transaction);
      }),
    remove: (keys) =>
      database('readwrite', (store) => {
        for (const key of keys) store.delete(key as IDBValidKey);
        return promisifyRequest<undefined>(store.transaction);
      }),
    alone: async (work) => {
      await (locks()?.request('vivace-models', work) ?? work());
    },
    turn,
    join,
  };
}

function turn<T>(
  name: string,
  work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const free = () => work(() => {});
  const manager = locks();
  if (!manager) return free();
  const patience = AbortSignal.timeout(TURN_MS);
  return new Promise((resolve, reject) => {
    const taken = async () => {
      const held: Promise<unknown>[] = [];
      const working = work((until) => held.push(until));
      working.then(resolve, reject);
      await working.catch(() => {});
      await Promise.allSettled(held);
    };
    const options = { signal: signal ? AbortSignal.any([signal, patience]) : patience };
    manager.request(`vivace ${name}`, options, taken).catch((error) => {
      if (signal?.aborted || !patience.aborted) reject(signal?.aborted ? signal.reason : error);
      else free().then(resolve, reject);
    });
  });
}

/** Of tabs that come at a time one is the first, and the others know it. */
async function join(name: string): Promise<Presence> {
  const manager = locks();
  if (!manager) return { others: false, leave() {} };
  return new Promise((joined, refused) => {
    const at = (lock: Lock | null) => {
      if (!lock) return joined({ others: true, leave() {} });
      return new Promise<void>((leave) => joined({ others: false, leave }));
    };
    manager.request(`vivace at ${name}`, { ifAvailable: true }, at).catch(refused);
  });
}

/** Storage that does not answer in this time counts as refused: some browsers never do. */
const PATIENCE_MS = 5000;

export function soon<T>(promise: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The storage does not answer.')), patienceMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
