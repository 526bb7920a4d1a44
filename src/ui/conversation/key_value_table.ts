// A table of keys and values for conversations: in IndexedDB, or in memory where the browser refuses storage.

import { createStore, del, get, keys, promisifyRequest, update } from 'idb-keyval';
import { withTimeout } from '../../shared/with_timeout';

export interface KeyValueTable {
  get(key: string): Promise<unknown>;
  /** Replaces a value by the result of `change`, atomically across tabs. If `change` throws, the value stays. */
  update(key: string, change: (old: unknown) => unknown): Promise<void>;
  /** Changes many keys in one step. Where `change` returns undefined, the value stays. */
  updateMany(keys: readonly string[], change: (key: string, old: unknown) => unknown): Promise<void>;
  /** Begins a write that can complete while the page closes. */
  putNow(key: string, value: unknown): void;
  delete(key: string): Promise<void>;
  keys(): Promise<string[]>;
}

/** A database that does not open in this time counts as refused: some browsers never answer. */
const TIMEOUT_MS = 3000;

/** Opens a table of IndexedDB. Where storage is refused, the first use rejects. */
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
      // Commits explicitly: an automatic commit comes after the write, when a closing page is gone, and the write would
      // be undone.
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
