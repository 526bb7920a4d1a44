// Keeps a model's files while it loads and serves them at the next load: pieces first, manifests last. Refused, full or
// lossy storage never breaks a load, which continues from the network.

import { sha256 } from '@noble/hashes/sha2.js';
import { arrived } from '../../shared/part';
import { removeUnnamed } from './cached_models';
import { type FileManifest, isEnough, isSameVersion, pieceLength, type Resolved } from './manifest';
import type { Presence } from './manifest_store';
import { ModelRecord } from './model_record';
import { PieceKeeper } from './piece_keeper';
import { toHex } from './piece_store';
import { type StartPieceThread, workInThreads } from './piece_threads';
import { workHere } from './piece_work';
import { openStores, type Stores } from './stores';
import { TabWaits } from './tab_waits';
import { describeTrouble, troubleCode } from './trouble';
import { watched } from './watched_stores';

/** Receives the cache's warnings, each once. Codes: `cache-full`, `storage-hangs`, `storage-refused`. */
export type OnCacheWarning = (warning: { code: string; message: string; facts?: Record<string, number> }) => void;

/**
 * Opens the cache of the model at `location`. Null, with a warning, without storage; null for addresses that cannot be
 * cached. `checksServer`: also ask the server for a newer version of a complete model.
 */
export async function openCache(
  location: string,
  onWarning: OnCacheWarning,
  checksServer = false,
  waits?: TabWaits,
  startThread?: StartPieceThread,
): Promise<ModelCache | null> {
  if (!/^https?:/i.test(location)) return null;
  try {
    const stores = await openStores();
    const opening = ModelCache.open(location, stores, onWarning, checksServer, waits, startThread);
    return await opening.catch(() => null); // told already
  } catch (error) {
    onWarning({ code: troubleCode(error), message: describeTrouble(error) });
    return null;
  }
}

/** The warning if the part with the longer text cannot be loaded. */
const FULL =
  "This browser's storage is full for this site. The model works; the rest is fetched again at the next load.";

export class ModelCache {
  private presence: Presence = { others: false, leave() {} };
  private warning: Promise<void> = Promise.resolve();
  /** Milliseconds since 1970. */
  private readonly openedAt = Date.now();
  private readonly stores: Stores;
  private readonly record: ModelRecord;
  private readonly pieces: PieceKeeper;
  /** Files with a piece that was read but not stored. */
  private readonly missed = new Set<FileManifest>();
  /** Codes of the warnings given. */
  private readonly told = new Set<string>();

  private constructor(
    /** The model's address. */
    readonly location: string,
    stores: Stores,
    private readonly onWarning: OnCacheWarning,
    /** Compares the cached files with the server's, even when the model is complete. */
    readonly checksServer: boolean,
    private readonly waits: TabWaits,
    startThread?: StartPieceThread,
  ) {
    const tell = (error: unknown) => this.tell(error);
    this.stores = watched(stores, tell);
    const here = workHere(this.stores.pieces);
    this.pieces = new PieceKeeper(this.stores.pieces, startThread ? workInThreads(here, startThread, tell) : here);
    this.record = new ModelRecord(location, this.stores, this.pieces, waits);
  }

  /** Opens a cache that the caller closes after the load. @throws when the database refuses, after the warning */
  static async open(
    location: string,
    stores: Stores,
    onWarning: OnCacheWarning,
    checksServer = false,
    waits = new TabWaits(),
    startThread?: StartPieceThread,
  ): Promise<ModelCache> {
    const cache = new ModelCache(location, stores, onWarning, checksServer, waits, startThread);
    await cache.record.open(checksServer).finally(() => cache.warning);
    try {
      cache.presence = await cache.stores.manifests.join(location);
    } catch {
      waits.goOnAlone(); // locks that hang here would hang at every piece
    }
    return cache;
  }

  private tell(error: unknown): void {
    const code = troubleCode(error);
    if (this.told.has(code)) return;
    this.told.add(code);
    if (code === 'cache-full') this.warning = this.tellFull(code).catch(() => this.onWarning({ code, message: FULL }));
    else this.onWarning({ code, message: describeTrouble(error) });
  }

  private async tellFull(code: string): Promise<void> {
    const { describeFull } = await arrived(import('./full_storage'));
    const full = await describeFull(this.stores, this.location, [...this.record.files.values()]);
    this.onWarning({ code, ...full });
  }

  /** Marks the files of a successful load as sufficient: no more pieces are needed than were read. */
  noteLoaded(): void {
    for (const file of this.record.files.values()) {
      if (isEnough(file) || this.missed.has(file)) continue;
      file.isEnough = true;
      this.record.noteChange(file);
    }
  }

  /** True if the next load needs nothing of the network. */
  get isKept(): boolean {
    return this.pieces.keeps && this.missed.size === 0 && [...this.record.files.values()].every(isEnough);
  }

  /** A hash of all bytes of the model that were needed, or null where a part of them is not kept. After `close`. */
  get contents(): string | null {
    if (!this.isKept || this.record.isGone) return null;
    const files = [...this.record.files.values()].map(({ url, hashes }) => `${url} ${hashes.join(' ')}`);
    return toHex(sha256(new TextEncoder().encode(files.sort().join('\n'))));
  }

  /** Ends the load, successful or not, after storing what is in progress. Never throws. */
  async close(): Promise<void> {
    await this.flush();
    await this.pieces.end();
    await this.warning;
    this.presence.leave();
  }

  /** True when every needed file is cached, so that nothing is asked of the network. */
  get isWhole(): boolean {
    return this.record.isWhole;
  }

  /**
   * True for a file that another tab finds while both load: its findings count as answers of the network. That tab may
   * have joined later, but asked first. A record of the millisecond in which this load began is that tab's only if the
   * model had none before.
   */
  isFoundBeside({ url, savedAt }: FileManifest): boolean {
    const isFirst = !this.record.model?.files.includes(url);
    return this.presence.others || savedAt > this.openedAt || (isFirst && savedAt === this.openedAt);
  }

  /** The cached hub revision of a complete model, or null when the hub must be asked. */
  get keptAs(): Resolved | null {
    return this.isWhole ? this.lastKeptAs : null;
  }

  /** The cached hub revision of any part of the model, or null. Used when the hub cannot be reached. */
  get lastKeptAs(): Resolved | null {
    return this.record.model?.resolved ?? null;
  }

  noteResolved(resolved: Resolved): void {
    this.record.resolved = resolved;
  }

  /** Falls back to a complete cached model when the network does not answer. False if nothing changes. */
  goOffline(): boolean {
    const { isWhole, wasWhole } = this.record;
    if (isWhole || !wasWhole) return false;
    this.record.isWhole = true;
    this.record.files.clear();
    this.record.absent.clear();
    return true;
  }

  /** Runs `work` on a file or piece while no other tab does. */
  turn<T>(
    name: string,
    work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.pieces.keeps ? this.stores.manifests.turn(name, work, this.waits, signal) : work(() => {});
  }

  /** The manifest of a file, or null. */
  async find(url: string, pieceBytes: number): Promise<FileManifest | null> {
    const file = await this.record.lookUp(url).catch(() => null);
    return file?.pieceBytes === pieceBytes ? file : null;
  }

  /** A file of the model's previous version with this SHA-256 (hex), or null. */
  async findContent(sha256: string, pieceBytes: number): Promise<FileManifest | null> {
    for (const url of this.record.model?.files ?? []) {
      const file = await this.find(url, pieceBytes);
      if (file?.sha256 === sha256) return file;
    }
    return null;
  }

  /** Adopts a piece that another tab has written in the meantime. */
  async refresh(file: FileManifest, index: number): Promise<void> {
    const known = await this.find(file.url, file.pieceBytes);
    const name = known && isSameVersion(file, known) ? known.hashes[index] : null;
    if (name !== null && !this.pieces.bad.has(name)) file.hashes[index] = name;
  }

  /** True for a file whose bytes were all checked against this SHA-256. */
  isVerified(url: string, sha256: string): boolean {
    return this.record.files.get(url)?.sha256 === sha256;
  }

  noteVerified(url: string, sha256: string): void {
    const file = this.record.files.get(url);
    if (!file) return;
    file.sha256 = sha256;
    this.record.noteChange(file);
  }

  /** Deletes all pieces of a file with wrong content. Never throws. */
  async drop(url: string): Promise<void> {
    const file = this.record.files.get(url);
    if (!file) return;
    await this.pieces.settle();
    for (const [index, name] of file.hashes.entries()) {
      if (name === null) continue;
      await this.pieces.remove(name);
      this.lose(file, index);
    }
    await this.flush();
  }

  /**
   * Deletes the pieces that a load read before failing on their content, so that the next load fetches them. Never
   * throws.
   */
  async discard(): Promise<void> {
    await this.pieces.settle();
    for (const file of this.record.files.values()) {
      for (const [index, name] of file.hashes.entries()) {
        if (name === null || !this.pieces.used.has(name)) continue;
        await this.pieces.remove(name);
        this.lose(file, index);
      }
    }
    await this.flush();
  }

  /** Replaces a cached piece that differs from the server's. */
  replace(file: FileManifest, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.lose(file, index);
    return this.keep(file, index, bytes);
  }

  noteCompared(file: FileManifest): void {
    file.isCompared = true;
    this.record.noteChange(file);
  }

  /** Starts keeping pieces of this file. */
  adopt(file: FileManifest): void {
    this.record.adopt(file);
  }

  /** Records that an arriving file is complete. Never throws. */
  noteArrived(file: FileManifest): Promise<void> {
    delete file.isArriving;
    this.record.noteChange(file);
    return this.flush();
  }

  /** Forgets an arriving file that was cut off, and deletes its unshared pieces. Never throws. */
  async release(file: FileManifest): Promise<void> {
    this.record.files.delete(file.url);
    await this.pieces.settle();
    const names = new Set(file.hashes.filter((name) => name !== null));
    for (const name of names) this.pieces.wanted.delete(name);
    await removeUnnamed(this.stores, names, this.pieces.wanted).catch(() => {}); // best effort
  }

  /** True for a file that a complete model is known not to have. */
  isAbsent(url: string): boolean {
    return this.isWhole && (this.record.model?.absent.includes(url) ?? false);
  }

  noteAbsent(url: string): void {
    this.record.absent.add(url);
  }

  /** A cached piece, if its content matches its name. */
  async read(file: FileManifest, index: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const name = file.hashes[index];
    if (name === null) return null;
    const bytes = await this.pieces.read(name, pieceLength(file, index));
    if (!bytes) this.lose(file, index);
    return bytes;
  }

  private lose(file: FileManifest, index: number): void {
    file.hashes[index] = null;
    delete file.sha256;
    delete file.isEnough;
    delete file.isCompared;
    this.record.noteChange(file);
  }

  /** Stores a piece. The caller may reuse the bytes once the promise settles. Never throws. */
  async keep(file: FileManifest, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.record.isGone) return void this.missed.add(file);
    await this.pieces.keep(bytes, (name) => {
      if (name === null) return void this.missed.add(file);
      file.hashes[index] = name;
      delete file.isCompared;
      this.record.noteChange(file);
    });
  }

  /** Records the complete list of files of a model that opened without an error. Never throws. */
  finish(name: string): Promise<void> {
    return this.record.finish(name);
  }

  /** Writes the manifests, after pieces in progress. Never throws. */
  flush(): Promise<void> {
    return this.record.flush();
  }
}
