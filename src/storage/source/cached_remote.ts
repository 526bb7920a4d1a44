// A file of which some pieces, or all, are in the cache, and the rest comes from the network: once for all tabs that load it.

import { ModelFetchError, ModelFileError } from '../../errors';
import type { ModelCache } from '../cache/cache';
import { type FileManifest, isSameVersion, isWhole, newFile, nPieces, pieceLength } from '../cache/manifest';
import { pieceName } from '../cache/piece_store';
import type { OpenOptions } from './byte_source';
import { ChangedFileError, shown, urlFileName } from './http';
import type { Remote } from './remote';

/** Asks the network for a file, first for the part at `at`. */
export type Connect = (at: number) => Promise<Remote>;

type Options = OpenOptions & { cache: ModelCache };

/** What a file is, and what the network gave while that was found out. */
interface Opened {
  file: FileManifest;
  /** Null where the network was not asked. */
  remote: Remote | null;
  /** The piece that came with the answer. */
  first: { index: number; bytes: Uint8Array<ArrayBuffer> } | null;
  /** What is here is held against the server's bytes. */
  compares?: boolean;
}

/**
 * A file of a model that is whole asks nothing of the network, unless a piece was lost. Any other is asked for its version,
 * with the first piece that is missing; what is here of another version is not used. Of tabs that load one file at a time each piece
 * is fetched by the first that wants it.
 * @throws as `connect`; ModelFetchError when a lost piece can only be had of another version; ModelFileError when it holds
 *   something else than the one that was lost, of a file whose hash was checked
 */
export async function cachedRemote(
  url: string,
  connect: Connect,
  pieceBytes: number,
  options: Options,
): Promise<Remote> {
  const { cache, onBytes, onWarning, signal } = options;
  const opened = await openOnce(url, connect, pieceBytes, options);
  const { file } = opened;
  let { first } = opened;
  let remote = opened.remote && Promise.resolve(opened.remote);

  /** Once, for all pieces that are wanted at a time; again after a failure. */
  function reconnect(at: number): Promise<Remote> {
    remote ??= connectAt(connect, at).then(
      (now) => {
        if (isSameVersion(file, now)) return now;
        throw new ChangedFileError(url, null, `${shown(url)} changed since it was kept here. Load the model again.`);
      },
      (error) => {
        remote = null;
        throw error;
      },
    );
    return remote;
  }

  async function kept(index: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = await cache.read(file, index);
    if (bytes) onBytes?.(bytes.length, true);
    return bytes;
  }

  const toCompare = new Set(opened.compares ? file.hashes.flatMap((name, index) => (name === null ? [] : index)) : []);
  let differs = false;

  /** A piece as the server has it now, which takes the place of what was kept; null where no server answers. */
  async function compared(index: number, length: number): Promise<Uint8Array<ArrayBuffer> | null> {
    toCompare.delete(index);
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await (await reconnect(index * pieceBytes)).part(index * pieceBytes, length);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ModelFetchError) || error instanceof ChangedFileError) throw error;
      toCompare.clear(); // as without an update
      return null;
    }
    if ((await pieceName(bytes)) !== file.hashes[index]) {
      if (!differs) onWarning?.({ code: 'fetched-again', message: `${urlFileName(url)} ${DIFFERED}` });
      differs = true;
      await cache.replace(file, index, bytes);
    } else if (toCompare.size === 0 && !differs) {
      cache.noteCompared(file);
    }
    return bytes;
  }

  return {
    size: file.size,
    version: file.version,
    digest: opened.remote?.digest ?? null,
    isWhole: opened.remote?.isWhole ?? false,
    async part(offset, length) {
      const index = offset / pieceBytes;
      if (first?.index === index) {
        const { bytes } = first;
        first = null; // handed over, once
        return bytes;
      }
      if (opened.remote?.isWhole) return opened.remote.part(offset, length);
      const fresh = toCompare.has(index) ? await compared(index, length) : null;
      if (fresh) return fresh;
      const { sha256 } = file;
      const lost = sha256 === undefined ? null : file.hashes[index];
      const here = await kept(index);
      if (here) return here;
      return cache.turn(
        `piece ${index} ${url}`,
        async (hold) => {
          await cache.refresh(file, index);
          const written = await kept(index); // by another tab, meanwhile
          if (written) return written;
          const bytes = await (await reconnect(offset)).part(offset, length);
          if (lost !== null && (await pieceName(bytes)) !== lost) {
            throw new ModelFileError(
              shown(url),
              `differs at byte ${offset} from what was checked. Load the model again.`,
            );
          }
          await cache.keep(file, index, bytes);
          if (lost !== null && sha256 && isWhole(file)) cache.noteVerified(url, sha256);
          hold(cache.flush());
          return bytes;
        },
        signal,
      );
    },
  };
}

/** Finds out what the file is: from the cache where that is enough, else from the network, one tab at a time. */
async function openOnce(url: string, connect: Connect, pieceBytes: number, options: Options): Promise<Opened> {
  const { cache, signal, hashes } = options;
  return cache.turn(
    `file ${url}`,
    async () => {
      const known = await cache.find(url, pieceBytes);
      if (known && (cache.isWhole || (cache.hasCompany && !cache.asks && known.version !== ''))) {
        cache.adopt(known);
        return { file: known, remote: null, first: null };
      }
      const at = known ? pieceToAskFor(known) * pieceBytes : 0;
      const remote = await connectAt(connect, at);
      if (remote.file) return { file: remote.file, remote, first: null };
      const isSame = known !== null && isSameVersion(known, remote);
      const file = isSame ? known : newFile(url, remote.size, remote.version, pieceBytes);
      const sha256 = hashes?.get(url) ?? remote.digest;
      const isTaken = !isSame && sha256 !== null && (await takeOver(cache, file, sha256));
      cache.adopt(file);
      if (isTaken) cache.noteVerified(url, sha256);
      const compares = isSame && cache.asks && !isSure(file, sha256);
      return { file, remote, first: await keepFirst(cache, file, remote, at), compares };
    },
    signal,
  );
}

const DIFFERED = 'was kept here with other bytes than the server has now; these were taken instead.';

/** Whether what is here has been checked, or will be while it is read. A version does not do that: the bytes under it may have come wrong. */
function isSure(file: FileManifest, sha256: string | null): boolean {
  return file.sha256 !== undefined || file.isCompared === true || (sha256 !== null && isWhole(file));
}

/** What came with the answer is kept before another tab has its turn. */
async function keepFirst(cache: ModelCache, file: FileManifest, remote: Remote, at: number): Promise<Opened['first']> {
  const index = at < file.size ? at / file.pieceBytes : 0;
  if (file.size === 0 || file.hashes[index] !== null) return null;
  const bytes = await remote.part(index * file.pieceBytes, pieceLength(file, index));
  await cache.keep(file, index, bytes);
  await cache.flush();
  return { index, bytes };
}

/** The same content under another address, as of the commit before, need not be fetched again. */
async function takeOver(cache: ModelCache, file: FileManifest, sha256: string): Promise<boolean> {
  const twin = await cache.findContent(sha256, file.pieceBytes);
  if (twin?.size !== file.size) return false;
  file.hashes = [...twin.hashes];
  return true;
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
