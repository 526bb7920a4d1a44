// What the page may know of the models that were kept, and delete. It runs on the page, beside the worker that keeps them.

import { openStores } from '../storage/cache';
import { type CachedModel, deleteModel, listModels } from '../storage/cached_models';

export type { CachedModel };

/** The models that are kept in this browser, the last used first; none where it keeps nothing. */
export async function listCachedModels(): Promise<CachedModel[]> {
  const stores = await openStores().catch(() => null);
  return stores ? listModels(stores) : [];
}

/**
 * Deletes a model by its `location`. One that is in use, in another tab too, goes on from memory or from the network.
 * @throws DOMException where the browser's storage fails
 */
export async function deleteCachedModel(location: string): Promise<void> {
  const stores = await openStores().catch(() => null);
  if (stores) await deleteModel(stores, location);
}

/** Bytes that this site keeps in the browser, and how many it may; null where the browser does not say. */
export async function cacheUsage(): Promise<{ usedBytes: number; quotaBytes: number } | null> {
  const { usage, quota } = (await globalThis.navigator?.storage?.estimate?.().catch(() => null)) ?? {};
  return usage === undefined || quota === undefined ? null : { usedBytes: usage, quotaBytes: quota };
}
