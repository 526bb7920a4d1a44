// A file with some or all pieces in the cache. Missing pieces come from the network, once for all tabs that load the
// file.

import { ModelFetchError, ModelFileError } from '../../errors';
import type { ModelCache } from '../cache/cache';
import { type FileManifest, isSameVersion, isWhole, newFile, nPieces, pieceLength } from '../cache/manifest';
import { pieceName } from '../cache/piece_store';
import type { OpenOptions } from './byte_source';
import { ChangedFileError, shown, urlFileName } from './http';
import type { RemoteFile } from './remote';

/** Opens the file on the network. The first request begins at byte `at`. */
export type Connect = (at: number) => Promise<RemoteFile>;

type FetchRange = RemoteFile['fetchRange'];
type Options = OpenOptions & { cache: ModelCache };

/** The result of identifying a file, and what the network returned in doing so. */
interface Opened {
  file: FileManifest;
  /** Null if the network was not asked. */
  remote: RemoteFile | null;
  /** The piece that arrived with the first answer. */
  first: { index: number; bytes: Uint8Array<ArrayBuffer> } | null;
  /** Cached pieces are compared with the server's bytes. */
  compares?: boolean;
}

/**
 * Opens a file through the cache. A complete model asks nothing of the network, except for a lost piece. Otherwise the
 * server is asked for the version together with the first missing piece, and pieces of other versions are not used. If
 * several tabs load the file, the first to want a piece fetches it.
 * @throws as `connect`; ModelFetchError if a lost piece exists only in another version; ModelFileError if a fetched
 * piece differs from the lost one although the file's hash was checked
 */
export async function cachedRemote(
  url: string,
  connect: Connect,
  pieceBytes: number,
  options: Options,
): Promise<RemoteFile> {
  const opened = await openOnce(url, connect, pieceBytes, options);
  const { file, remote } = opened;
  let { first } = opened;
  let checked: FileManifest | null = null; // as it was with its hash, which `file` forgets with the first lost piece
  const fetchRange = rangeFetcher(url, connect, opened);
  const compare = comparer(opened, fetchRange, options);

  return {
    size: file.size,
    version: file.version,
    digest: remote?.digest ?? null,
    isWhole: remote?.isWhole ?? false,
    async fetchRange(offset, length) {
      const index = offset / pieceBytes;
      if (file.sha256) checked ??= { ...file, hashes: [...file.hashes] };
      if (first?.index === index) {
        const { bytes } = first;
        first = null; // returned once, then released
        return bytes;
      }
      if (remote?.isWhole) return remote.fetchRange(offset, length);
      return (await compare(index, length)) ?? readOrFetch(file, checked, index, length, fetchRange, options);
    },
  };
}

/** Reads a piece from the cache. A missing piece is fetched, by one tab at a time. */
async function readOrFetch(
  file: FileManifest,
  checked: FileManifest | null,
  index: number,
  length: number,
  fetchRange: FetchRange,
  options: Options,
): Promise<Uint8Array<ArrayBuffer>> {
  const { cache, signal } = options;
  const { url, pieceBytes } = file;
  const lost = checked?.hashes[index] ?? null;
  const here = await readCached(options, file, index);
  if (here) return here;
  return cache.turn(
    `piece ${index} ${url}`,
    async (hold) => {
      await cache.refresh(file, index);
      const written = await readCached(options, file, index); // by another tab in the meantime
      if (written) return written;
      const offset = index * pieceBytes;
      const bytes = await fetchRange(offset, length);
      if (lost !== null) await checkFound(url, offset, bytes, lost);
      await cache.keep(file, index, bytes);
      if (lost !== null && checked?.sha256 && isWhole(file)) cache.noteVerified(url, checked.sha256);
      hold(cache.flush());
      return bytes;
    },
    signal,
  );
}

/**
 * A function that compares a cached piece with the server's, once, if the file is to be compared. It replaces a
 * different piece and returns the server's bytes, or null if there is nothing to compare or no server answers.
 */
function comparer(
  { file, compares }: Opened,
  fetchRange: FetchRange,
  { cache, onWarning, signal }: Options,
): (index: number, length: number) => Promise<Uint8Array<ArrayBuffer> | null> {
  const toCompare = new Set(compares ? file.hashes.flatMap((name, index) => (name === null ? [] : index)) : []);
  let differs = false;
  return async (index, length) => {
    if (!toCompare.delete(index)) return null;
    const offset = index * file.pieceBytes;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await fetchRange(offset, length);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ModelFetchError) || error instanceof ChangedFileError) throw error;
      toCompare.clear(); // continue as without an update
      return null;
    }
    if ((await pieceName(bytes)) !== file.hashes[index]) {
      if (!differs) onWarning?.({ code: 'fetched-again', message: `${urlFileName(file.url)} ${DIFFERED}` });
      differs = true;
      await cache.replace(file, index, bytes);
    } else if (toCompare.size === 0 && !differs) {
      cache.noteCompared(file);
    }
    return bytes;
  };
}

async function readCached(
  { cache, onBytes }: Options,
  file: FileManifest,
  index: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const bytes = await cache.read(file, index);
  if (bytes) onBytes?.(bytes.length, true);
  return bytes;
}

/** Fetches ranges. Connects once for all concurrent requests, and again after a failure. */
function rangeFetcher(url: string, connect: Connect, { file, remote: first }: Opened): FetchRange {
  let remote = first && Promise.resolve(first);
  return async (offset, length) => {
    remote ??= connectAt(connect, offset).then(
      (now) => {
        if (isSameVersion(file, now)) return now;
        throw new ChangedFileError(url, null, `${shown(url)} changed since it was kept here. Load the model again.`);
      },
      (error) => {
        remote = null;
        throw error;
      },
    );
    return (await remote).fetchRange(offset, length);
  };
}

/** @throws ModelFileError if a piece in place of a lost one has another hash */
async function checkFound(url: string, offset: number, bytes: Uint8Array<ArrayBuffer>, lost: string): Promise<void> {
  if ((await pieceName(bytes)) === lost) return;
  throw new ModelFileError(shown(url), `differs at byte ${offset} from what was checked. Load the model again.`);
}

/** Identifies the file: from the cache if possible, otherwise from the network, one tab at a time. */
async function openOnce(url: string, connect: Connect, pieceBytes: number, options: Options): Promise<Opened> {
  const { cache, signal, hashes } = options;
  return cache.turn(
    `file ${url}`,
    async () => {
      const known = await cache.find(url, pieceBytes);
      if (known && (cache.isWhole || (cache.isFoundBeside(known) && !cache.checksServer && known.version !== ''))) {
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
      const compares = isSame && cache.checksServer && !isChecked(file, sha256);
      return { file, remote, first: await keepFirst(cache, file, remote, at), compares };
    },
    signal,
  );
}

const DIFFERED = 'was kept here with other bytes than the server has now; these were taken instead.';

/**
 * True if the cached bytes are checked already, or will be while they are read. An equal version alone proves nothing,
 * since the bytes under it may have arrived damaged.
 */
function isChecked(file: FileManifest, sha256: string | null): boolean {
  return file.sha256 !== undefined || file.isCompared === true || (sha256 !== null && isWhole(file));
}

/** Stores the piece of the first answer before another tab gets its turn. */
async function keepFirst(
  cache: ModelCache,
  file: FileManifest,
  remote: RemoteFile,
  at: number,
): Promise<Opened['first']> {
  const index = at < file.size ? at / file.pieceBytes : 0;
  if (file.size === 0 || file.hashes[index] !== null) return null;
  const bytes = await remote.fetchRange(index * file.pieceBytes, pieceLength(file, index));
  await cache.keep(file, index, bytes);
  await cache.flush();
  return { index, bytes };
}

/** Reuses the pieces of equal content under another address, such as the previous commit's. */
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

/** Connects at byte `at`, or at 0 if the file became shorter. */
async function connectAt(connect: Connect, at: number): Promise<RemoteFile> {
  try {
    return await connect(at);
  } catch (error) {
    if (at === 0 || !(error instanceof ModelFetchError && error.status === 416)) throw error;
    return connect(0);
  }
}
