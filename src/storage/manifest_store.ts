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
}

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
      const locks = navigator.locks as LockManager | undefined;
      await (locks ? locks.request('vivace-models', work) : work());
    },
  };
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
