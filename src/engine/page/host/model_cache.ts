// The models kept in this browser: lists and deletes them, in a worker, as the cache itself lives there.

import type { Remote } from 'comlink';
import type { CachedModel, WorkerApi } from '../../protocol';
import { Connection, storageSettled } from './connection';

async function inWorker<T>(call: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T> {
  const connection = await Connection.open();
  try {
    return await connection.alive(call(connection.worker));
  } finally {
    connection.close();
  }
}

/**
 * Lists the models kept in this browser, the last used first. Waits until a load that was just canceled has written
 * what had arrived.
 * @throws WorkerError if no worker starts
 */
export async function listCachedModels(): Promise<CachedModel[]> {
  await storageSettled();
  return inWorker((worker) => worker.listCachedModels());
}

/**
 * Deletes a model by its `location`. A model in use, in another tab too, goes on from memory or from the network. If
 * its server has no ranges, it must be loaded again.
 * @throws Error if the browser's storage fails
 */
export function deleteCachedModel(location: string): Promise<void> {
  return inWorker((worker) => worker.deleteCachedModel(location));
}

/** Bytes that this site keeps in the browser, and its quota. Null if the browser does not report them. */
export async function cacheUsage(): Promise<{ usedBytes: number; quotaBytes: number } | null> {
  const estimate = async () => globalThis.navigator?.storage?.estimate?.();
  const { usage, quota } = (await estimate().catch(() => null)) ?? {};
  return usage === undefined || quota === undefined ? null : { usedBytes: usage, quotaBytes: quota };
}

/**
 * Asks the browser not to clear this site's storage by itself. Only Chromium is asked, which decides without a word to
 * the person. Firefox would ask the person, for whom nothing on the page explains the question; Safari decides by use
 * alone. Never throws.
 */
export async function askToKeep(): Promise<void> {
  try {
    if ('userAgentData' in navigator) await navigator.storage.persist();
  } catch {
    // the browser clears storage when the disk is full, as before
  }
}
