// Manifests in IndexedDB, in a database of their own.

import { createStore, entries, get, promisifyRequest } from 'idb-keyval';
import { alone, join, type Presence, turn } from './tab_locks';

export type { Presence };

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

export function idbManifests(): ManifestStore {
  const database = createStore('vivace-models', 'manifests');
  return {
    get: (key) => get<unknown>(key, database),
    entries: () => entries<IDBValidKey, unknown>(database),
    update: (key, change) => database('readwrite', (store) => updated(store, key, change)),
    remove: (keys) =>
      database('readwrite', (store) => {
        for (const key of keys) store.delete(key as IDBValidKey);
        return promisifyRequest<undefined>(store.transaction);
      }),
    alone,
    turn,
    join,
  };
}

/** What throws in an event's listener would end the worker: it rejects. */
function updated(store: IDBObjectStore, key: string, change: (old: unknown) => unknown): Promise<void> {
  const { transaction } = store;
  return new Promise((resolve, reject) => {
    const refused = () => reject(transaction.error ?? new Error('The database refused a change.'));
    transaction.oncomplete = () => resolve();
    transaction.onabort = refused;
    transaction.onerror = refused;
    const request = store.get(key);
    request.onsuccess = () => {
      try {
        const value = change(request.result);
        if (value === undefined) store.delete(key);
        else store.put(value, key);
      } catch (error) {
        reject(error);
        transaction.abort();
      }
    };
  });
}
