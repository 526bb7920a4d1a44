// Where conversations are kept: one table of keys and values, in IndexedDB, or in memory where the browser refuses that.

import { createStore, del, get, keys, promisifyRequest, update } from 'idb-keyval';
import { withTimeout } from '../../shared/with_timeout';

export interface KeyValueTable {
  get(key: string): Promise<unknown>;
  /** Replaces a value by what `change` makes of it, as one step: no other tab comes between. Where it throws, the value stays. */
  update(key: string, change: (old: unknown) => unknown): Promise<void>;
  /** The same for many keys in one step. A value that `change` makes undefined stays as it was. */
  updateMany(keys: readonly string[], change: (key: string, old: unknown) => unknown): Promise<void>;
  /** As much of a write as a page that is being closed can still do. */
  putNow(key: string, value: unknown): void;
  delete(key: string): Promise<void>;
  keys(): Promise<string[]>;
}

/** A database that does not open in this time counts as refused: some browsers never answer. */
const TIMEOUT_MS = 3000;

/** Throws, at the first use, where storage is refused. */
export function openTable(name: string, table: string): KeyValueTable {
  const store = createStore(name, table);
  return {
    get: (key) => get(key, store),
    update: (key, change) => update(key, change, store),
    updateMany: (all, change) =>
      store('readwrite', (objects) => {
        for (const key of all) {
          const read = objects.get(key);
          read.onsuccess = () => {
            const value = change(key, read.result);
            if (value !== undefined) objects.put(value, key);
          };
        }
        return promisifyRequest(objects.transaction);
      }),
    putNow(key, value) {
      // The commit is asked for at once: a page that is gone when the write is done would not get to it, and the write would be undone.
      void store('readwrite', (objects) => {
        objects.put(value, key);
        objects.transaction.commit();
        return promisifyRequest(objects.transaction);
      }).catch(() => {});
    },
    delete: (key) => del(key, store),
    async keys() {
      const found = await withTimeout(() => keys(store), TIMEOUT_MS);
      return found.filter((key): key is string => typeof key === 'string');
    },
  };
}

export function memoryTable(): KeyValueTable {
  const values = new Map<string, unknown>();
  return {
    get: async (key) => structuredClone(values.get(key)),
    async update(key, change) {
      values.set(key, structuredClone(change(structuredClone(values.get(key)))));
    },
    async updateMany(all, change) {
      for (const key of all) {
        const value = change(key, structuredClone(values.get(key)));
        if (value !== undefined) values.set(key, structuredClone(value));
      }
    },
    putNow(key, value) {
      values.set(key, structuredClone(value));
    },
    async delete(key) {
      values.delete(key);
    },
    keys: async () => [...values.keys()],
  };
}
