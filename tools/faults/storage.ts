// Faults of the browser's storage and locks: absent, throwing, full, hanging.

import { around, forever, override, refusal } from './patch';
import type { FaultName } from './plan';
import type { Schedule } from './schedule';

interface Store {
  /** Begins the names of its faults. */
  name: 'opfs' | 'cache';
  calls: Record<string, readonly string[]>;
  writes: Record<string, readonly string[]>;
}

/** Storage whose calls give promises. */
const STORES: readonly Store[] = [
  {
    name: 'opfs',
    calls: {
      StorageManager: ['getDirectory'],
      FileSystemDirectoryHandle: ['getFileHandle', 'getDirectoryHandle', 'removeEntry'],
      FileSystemFileHandle: ['getFile', 'createSyncAccessHandle', 'createWritable'],
      FileSystemHandle: ['move'],
    },
    writes: { FileSystemWritableFileStream: ['write'] },
  },
  {
    name: 'cache',
    calls: {
      CacheStorage: ['open', 'match', 'has', 'delete', 'keys'],
      Cache: ['match', 'matchAll', 'delete', 'keys'],
    },
    writes: { Cache: ['put', 'add', 'addAll'] },
  },
];

const quota = () => refusal('QuotaExceededError', 'storage is full');

export function patchStorage(schedule: Schedule): void {
  const locks = navigator.locks?.request;
  const absent = (name: FaultName) => () => (schedule.strikes(name) ? undefined : 'usual');
  const manager = navigator.storage;
  if (manager) override(manager, 'getDirectory', absent('opfs-absent'));
  override(globalThis, 'caches', absent('cache-absent'));
  override(globalThis, 'indexedDB', absent('idb-absent'));
  override(navigator, 'locks', absent('locks-absent'));
  for (const { name, calls, writes } of STORES) patchPromises(schedule, name, { calls, writes });
  // A file that is written synchronously cannot hang.
  around('FileSystemSyncAccessHandle', ['write'], (usual) => {
    if (schedule.strikes('opfs-full')) throw quota();
    return usual();
  });
  patchDatabases(schedule);
  patchLocks(schedule, locks as LockRequest | undefined);
  if ('localStorage' in globalThis) patchLocalStorage(schedule);
}

function patchPromises(schedule: Schedule, name: Store['name'], { calls, writes }: Omit<Store, 'name'>): void {
  for (const [className, methods] of Object.entries(calls)) {
    around(className, methods, (usual) => {
      if (schedule.strikes(`${name}-hangs`)) return forever();
      if (schedule.strikes(`${name}-throws`)) return Promise.reject(refusal('SecurityError', 'refused'));
      return usual();
    });
  }
  for (const [className, methods] of Object.entries(writes)) {
    around(className, methods, (usual) => (schedule.strikes(`${name}-full`) ? Promise.reject(quota()) : usual()));
  }
}

const READS = ['get', 'getAll', 'getKey', 'getAllKeys', 'count', 'openCursor', 'openKeyCursor'];
const WRITES = ['put', 'add', 'delete', 'clear'];

function patchDatabases(schedule: Schedule): void {
  around('IDBFactory', ['open', 'deleteDatabase', 'databases'], (usual) => {
    if (schedule.strikes('idb-throws')) throw refusal('SecurityError', 'refused');
    return schedule.strikes('idb-hangs') ? new EventTarget() : usual();
  });
  around('IDBDatabase', ['transaction'], (usual) => {
    if (schedule.strikes('idb-throws')) throw refusal('InvalidStateError', 'the database is closed');
    return schedule.strikes('idb-hangs') ? hangingTransaction() : usual();
  });
  around('IDBObjectStore', [...READS, ...WRITES], (usual) => {
    if (schedule.strikes('idb-throws')) throw refusal('UnknownError', 'the disk failed');
    return usual();
  });
  around('IDBObjectStore', ['put', 'add'], (usual, store) => {
    const request = usual();
    if (!schedule.strikes('idb-full')) return request;
    // A browser finds out at the commit: the transaction aborts, and has the error.
    const { transaction } = store as IDBObjectStore;
    Object.defineProperty(transaction, 'error', { value: quota() });
    transaction.abort();
    return request;
  });
}

/** A transaction whose requests never end. */
function hangingTransaction(): EventTarget {
  const transaction = Object.assign(new EventTarget(), { abort() {}, commit() {}, objectStore: () => store });
  const request = () => new EventTarget();
  const methods = [...READS, ...WRITES, 'index'].map((name) => [name, request]);
  const store = Object.assign(Object.fromEntries(methods), { transaction });
  return transaction;
}

/** The turn of a model's load (storage/cache/tab_locks.ts). */
const TURN = /^vivace (?!at )/;

type LockRequest = (...args: unknown[]) => Promise<unknown>;

function patchLocks(schedule: Schedule, request?: LockRequest): void {
  around('LockManager', ['request'], (usual, self, [name]) => {
    if (schedule.strikes('locks-hangs')) return forever();
    if (schedule.strikes('locks-throws')) return Promise.reject(refusal('SecurityError', 'refused'));
    const held = TURN.test(String(name)) && schedule.strikes('lock-held');
    if (held) {
      const { seconds } = held;
      const hold = () => (seconds === null ? forever() : new Promise((free) => setTimeout(free, seconds * 1000)));
      void request?.call(self, name, hold);
    }
    return usual();
  });
}

function patchLocalStorage(schedule: Schedule): void {
  override(globalThis, 'localStorage', () => {
    if (schedule.strikes('local-storage-throws')) throw refusal('SecurityError', 'refused');
    return schedule.strikes('local-storage-absent') ? undefined : 'usual';
  });
  around('Storage', ['setItem'], (usual) => {
    if (schedule.strikes('local-storage-full')) throw quota();
    return usual();
  });
}
