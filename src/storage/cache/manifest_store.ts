// Manifests in an IndexedDB database of their own.

import { createStore, entries, get, promisifyRequest } from 'idb-keyval';
import { alone, join, type Presence, turn } from './tab_locks';
import type { TabWaits } from './tab_waits';

export type { Presence };

/** Values by key. Values are untrusted and must be parsed. */
export interface ManifestStore {
  get(key: string): Promise<unknown>;
  /** Replaces a value by the result of `change`, atomically among all tabs. An undefined result removes the value. */
  update(key: string, change: (old: unknown) => unknown): Promise<void>;
  entries(): Promise<[key: unknown, value: unknown][]>;
  remove(keys: readonly unknown[]): Promise<void>;
  /**
   * Runs one piece of work at a time among all tabs, if the browser has locks. Without locks, and after 5 seconds of
   * waiting for a tab that hangs, a deletion may miss concurrent writes; the next deletion finds them.
   */
  alone(work: () => Promise<void>, waits?: TabWaits): Promise<void>;
  /**
   * Like `alone`, but only among work with the same `name`. The turn ends when `work` and every promise passed to
   * `hold` have settled; the result is returned before. A caller waits at most a minute, for example for a hanging tab,
   * and then proceeds.
   * @throws as `work`; the signal's reason when it aborts the wait
   */
  turn<T>(
    name: string,
    work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
    waits?: TabWaits,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Announces to other tabs that this one works on `name`, until `leave`. `others`: another tab came first. */
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

/**
 * Runs a change in one transaction. Rejects when `change` throws: an error in an event listener would end the worker.
 */
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
        abort(transaction);
      }
    };
  });
}

/** Aborts a transaction that may have ended by itself. */
function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // ended
  }
}
