// What a page may know of the models that this browser keeps, and delete. A worker does it, as it does the keeping.

import type { Remote } from 'comlink';
import type { CachedModel, WorkerApi } from '../protocol';
import { Connection } from './connection';

async function inWorker<T>(call: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T> {
  const connection = await Connection.open();
  try {
    return await connection.alive(call(connection.worker));
  } finally {
    connection.close();
  }
}

/**
 * The models that are kept in this browser, the last used first; none where it keeps nothing.
 * @throws WorkerError where no worker starts
 */
export function listCachedModels(): Promise<CachedModel[]> {
  return inWorker((worker) => worker.listCachedModels());
}

/**
 * Deletes a model by its `location`. One that is in use, in another tab too, goes on from memory or from the network; from a
 * server without ranges it must be loaded again.
 * @throws Error where the browser's storage fails
 */
export function deleteCachedModel(location: string): Promise<void> {
  return inWorker((worker) => worker.deleteCachedModel(location));
}

/** Bytes that this site keeps in the browser, and how many it may; null where the browser does not say. */
export async function cacheUsage(): Promise<{ usedBytes: number; quotaBytes: number } | null> {
  const estimate = async () => globalThis.navigator?.storage?.estimate?.();
  const { usage, quota } = (await estimate().catch(() => null)) ?? {};
  return usage === undefined || quota === undefined ? null : { usedBytes: usage, quotaBytes: quota };
}
