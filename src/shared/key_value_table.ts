// A table of keys and values for conversations and runs: in IndexedDB, or in memory where the browser refuses storage.

import { promisifyRequest } from 'idb-keyval';
import { LastWords } from './last_words';
import { withTimeout } from './with_timeout';

export interface KeyValueTable {
  get(key: string): Promise<unknown>;
  /**
   * Changes values in one step, which happens whole or not at all, whatever crashes and whatever other tabs write.
   * `change` gets the keys in their order. It returns the new value, null to delete, or undefined to leave the value.
   * Rejects with what `change` throws, and then nothing changes.
   */
  update(keys: readonly string[], change: (key: string, old: unknown) => unknown): Promise<void>;
  /** Writes a value. Completes even if the page ends right after the call, unless it has to wait for other writes. */
  putNow(key: string, value: unknown): Promise<void>;
  /** Writes a value of JSON while the page closes, whatever other writes are under way. Never throws. */
  putLast(key: string, value: unknown): void;
  /** The keys that begin with `prefix`. */
  keys(prefix: string): Promise<string[]>;
}

/** Opens a table of IndexedDB. Where storage is refused, each use rejects; where it hangs, after a few seconds. */
export function openTable(name: string, table: string): KeyValueTable {
  let opened: Promise<IDBDatabase> | undefined;
  const open = (): Promise<IDBDatabase> => {
    opened ??= openDatabase(name, table, () => {
      opened = undefined; // the next use opens it again
    });
    return opened;
  };
  const lastWords = new LastWords(name);
  const begin = async (mode: IDBTransactionMode, options?: IDBTransactionOptions): Promise<IDBObjectStore> =>
    (await open()).transaction(table, mode, options).objectStore(table);
  const putNow = (key: string, value: unknown): Promise<void> =>
    withTimeout(async () => {
      // Relaxed: the browser, not the disk, has the value when the write is done. A tab or a GPU process that
      // crashes loses nothing; a power cut may lose the last seconds of an answer.
      const objects = await begin('readwrite', { durability: 'relaxed' });
      objects.put(value, key);
      // Commits explicitly: an automatic commit comes after the write, when a closing page is gone, and the write
      // would be undone.
      objects.transaction.commit();
      return promisifyRequest(objects.transaction);
    });
  return {
    get: (key) => withTimeout(async () => promisifyRequest((await begin('readonly')).get(key))),
    update: async (all, change) => {
      const deleted: string[] = [];
      const noteDeleted = (key: string, old: unknown) => {
        const value = change(key, old);
        if (value === null) deleted.push(key);
        return value;
      };
      await withTimeout(async () => updateIn(await begin('readwrite'), all, noteDeleted));
      for (const key of deleted) lastWords.remove(key);
    },
    putNow,
    putLast(key, value) {
      lastWords.put(key, value);
      void putNow(key, value).catch(() => {}); // where localStorage refuses it, this may still succeed
    },
    keys: (prefix) =>
      withTimeout(async () => {
        await lastWords.moveAll(putNow);
        const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
        return (await promisifyRequest((await begin('readonly')).getAllKeys(range))) as string[];
      }),
  };
}

async function openDatabase(name: string, table: string, onGone: () => void): Promise<IDBDatabase> {
  try {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.result.createObjectStore(table);
    const database = await promisifyRequest(request);
    database.onclose = onGone;
    return database;
  } catch (error) {
    onGone();
    throw error;
  }
}

async function updateIn(
  objects: IDBObjectStore,
  keys: readonly string[],
  change: (key: string, old: unknown) => unknown,
): Promise<void> {
  const { transaction } = objects;
  let thrown: unknown = null;
  for (const key of keys) {
    const read = objects.get(key);
    read.onsuccess = () => {
      try {
        const value = change(key, read.result);
        if (value === null) objects.delete(key);
        else if (value !== undefined) objects.put(value, key);
      } catch (error) {
        thrown ??= error;
        transaction.abort();
      }
    };
  }
  await promisifyRequest(transaction).catch((error: unknown) => {
    throw thrown ?? error;
  });
}

export function memoryTable(): KeyValueTable {
  const values = new Map<string, unknown>();
  return {
    get: async (key) => structuredClone(values.get(key)),
    async update(keys, change) {
      const changed = keys.map((key) => [key, structuredClone(change(key, structuredClone(values.get(key))))] as const);
      for (const [key, value] of changed) {
        if (value === null) values.delete(key);
        else if (value !== undefined) values.set(key, value);
      }
    },
    async putNow(key, value) {
      values.set(key, structuredClone(value));
    },
    putLast(key, value) {
      values.set(key, structuredClone(value));
    },
    keys: async (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
  };
}
