// The browser's storage for models: pieces in its file system, manifests in its database.

import { withTimeout } from '../../shared/with_timeout';
import { idbManifests, type ManifestStore } from './manifest_store';
import { opfsPieces, type PieceStore } from './piece_store';

export interface Stores {
  pieces: PieceStore;
  manifests: ManifestStore;
}

/** Opens both stores. @throws if the browser refuses storage; LateError if it does not answer */
export async function openStores(): Promise<Stores> {
  if (!globalThis.crypto?.subtle) throw new Error('This page is not secure: use HTTPS.');
  const stores = { pieces: await withTimeout(opfsPieces), manifests: idbManifests() };
  await withTimeout(() => stores.manifests.get('')); // throws if the database refuses
  return stores;
}
