// A file of which some pieces, or all, are in the cache, and the rest comes from the network.

import { ModelFetchError } from '../errors';
import { type ModelCache, newFile } from './cache';
import { shown } from './http';
import { type FileManifest, isSameVersion, nPieces } from './manifest';
import type { OpenOptions } from './source';
import type { Remote } from './url_source';

/** Asks the network for a file, first for the part at `at`. */
export type Connect = (at: number) => Promise<Remote>;

/**
 * A file of a model that is whole asks nothing of the network, unless a piece was lost. Any other is asked for its version,
 * with the first piece that is missing; what is here of another version is not used.
 * @throws as `connect`; ModelFetchError when a lost piece can only be had of another version
 */
export async function cachedRemote(
  url: string,
  connect: Connect,
  pieceBytes: number,
  { cache, onBytes }: OpenOptions & { cache: ModelCache },
): Promise<Remote> {
  const known = await cache.find(url, pieceBytes);
  let remote: Promise<Remote> | null = null;
  let file: FileManifest;
  if (known && cache.isWhole) file = known;
  else {
    const now = await connectAt(connect, known ? pieceToAskFor(known) * pieceBytes : 0);
    remote = Promise.resolve(now);
    file = known && isSameVersion(known, now) ? known : newFile(url, now.size, now.version, pieceBytes);
  }
  cache.adopt(file);

  /** Once, for all pieces that are wanted at a time; again after a failure. */
  function reconnect(at: number): Promise<Remote> {
    remote ??= connectAt(connect, at).then(
      (now) => {
        if (isSameVersion(file, now)) return now;
        throw new ModelFetchError(url, null, `${shown(url)} changed since it was kept here. Load the model again.`);
      },
      (error) => {
        remote = null;
        throw error;
      },
    );
    return remote;
  }

  return {
    size: file.size,
    version: file.version,
    async part(offset, length) {
      const index = offset / pieceBytes;
      const kept = await cache.read(file, index);
      if (kept) {
        onBytes?.(kept.length, true);
        return kept;
      }
      const bytes = await (await reconnect(offset)).part(offset, length);
      await cache.keep(file, index, bytes);
      return bytes;
    },
  };
}

function pieceToAskFor(file: FileManifest): number {
  const missing = file.hashes.indexOf(null);
  return missing >= 0 ? missing : Math.max(0, nPieces(file) - 1);
}

/** A file that became shorter has nothing at `at`. */
async function connectAt(connect: Connect, at: number): Promise<Remote> {
  try {
    return await connect(at);
  } catch (error) {
    if (at === 0 || !(error instanceof ModelFetchError && error.status === 416)) throw error;
    return connect(0);
  }
}
