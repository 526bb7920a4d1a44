// Keeps the files of one model while it loads, and gives them back at the next load: pieces by content, manifests last.
// Storage that refuses, fills up or loses things never breaks a load: it goes on from the network.

import { withTimeout } from '../../shared/with_timeout';
import { describeFull, removeUnnamed } from './cached_models';
import { type FileManifest, isEnough, isSameVersion, pieceLength, type Resolved } from './manifest';
import type { Presence } from './manifest_store';
import { ModelRecord } from './model_record';
import { PieceKeeper } from './piece_keeper';
import { openStores, type Stores } from './stores';

/** What the reader should know: `cache-full`. */
export type OnCacheWarning = (warning: { code: string; message: string }) => void;

/**
 * The cache of the model at `location`, or null where there is no storage, or nothing that could be kept. With `asks` a model that
 * is whole is asked of the network, too, in case there is a new version of it.
 */
export async function openCache(location: string, onWarning: OnCacheWarning, asks = false): Promise<ModelCache | null> {
  if (!/^https?:/i.test(location)) return null;
  try {
    return await ModelCache.open(location, await openStores(), onWarning, asks);
  } catch {
    return null;
  }
}

export class ModelCache {
  private presence: Presence = { others: false, leave() {} };
  private telling: Promise<void> = Promise.resolve();
  private readonly record: ModelRecord;
  private readonly pieces: PieceKeeper;
  /** Files of which a piece was read and could not be kept. */
  private readonly missed = new Set<FileManifest>();

  private constructor(
    location: string,
    private readonly stores: Stores,
    onWarning: OnCacheWarning,
    /** What is here is held against the network, be it whole or not. */
    readonly asks: boolean,
  ) {
    this.pieces = new PieceKeeper(stores.pieces, () => {
      this.telling = describeFull(stores, location, [...this.record.files.values()]).then((message) =>
        onWarning({ code: 'cache-full', message }),
      );
    });
    this.record = new ModelRecord(location, stores, this.pieces);
  }

  /** To be closed after the load. @throws where the database refuses */
  static async open(location: string, stores: Stores, onWarning: OnCacheWarning, asks = false): Promise<ModelCache> {
    const cache = new ModelCache(location, stores, onWarning, asks);
    await cache.record.open(asks);
    cache.presence = await withTimeout(() => stores.manifests.join(location)).catch(() => cache.presence);
    return cache;
  }

  /** The load ended well: of each file no more is needed than was read. */
  noteLoaded(): void {
    for (const file of this.record.files.values()) {
      if (isEnough(file) || this.missed.has(file)) continue;
      file.isEnough = true;
      this.record.noteChange(file);
    }
  }

  /** The load is over, well or not; what is under way is still kept. Never throws. */
  async close(): Promise<void> {
    await this.flush();
    await this.telling;
    this.presence.leave();
  }

  /** Every file that the model needs is here: nothing of it is asked of the network. */
  get isWhole(): boolean {
    return this.record.isWhole;
  }

  /** Another tab is loading this model: what it found out is as good as an answer of the network. */
  get hasCompany(): boolean {
    return this.presence.others;
  }

  /** What the repository was when the model was kept, or null where that is to be asked. */
  get keptAs(): Resolved | null {
    return this.isWhole ? this.lastKeptAs : null;
  }

  /** What the repository was when any of the model was kept, or null: for when the network does not tell. */
  get lastKeptAs(): Resolved | null {
    return this.record.model?.resolved ?? null;
  }

  noteResolved(resolved: Resolved): void {
    this.record.resolved = resolved;
  }

  /** The network does not answer: what was whole before it was asked is used as it is. False where that would be nothing new. */
  goOffline(): boolean {
    const { isWhole, wasWhole } = this.record;
    if (isWhole || !wasWhole) return false;
    this.record.isWhole = true;
    this.record.files.clear();
    return true;
  }

  /** Work on a file or piece that no other tab does meanwhile. */
  turn<T>(
    name: string,
    work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.pieces.keeps ? this.stores.manifests.turn(name, work, signal) : work(() => {});
  }

  /** What is known of a file, or null. */
  async find(url: string, pieceBytes: number): Promise<FileManifest | null> {
    const file = await withTimeout(() => this.record.lookUp(url)).catch(() => null);
    return file?.pieceBytes === pieceBytes ? file : null;
  }

  /** A file of this model's version before with this SHA-256 in hex, or null. */
  async findContent(sha256: string, pieceBytes: number): Promise<FileManifest | null> {
    for (const url of this.record.model?.files ?? []) {
      const file = await this.find(url, pieceBytes);
      if (file?.sha256 === sha256) return file;
    }
    return null;
  }

  /** Takes over what another tab has written of a piece since. */
  async refresh(file: FileManifest, index: number): Promise<void> {
    const known = await this.find(file.url, file.pieceBytes);
    const name = known && isSameVersion(file, known) ? known.hashes[index] : null;
    if (name !== null && !this.pieces.bad.has(name)) file.hashes[index] = name;
  }

  /** Whether all bytes of a file were found to have this SHA-256 before. */
  isVerified(url: string, sha256: string): boolean {
    return this.record.files.get(url)?.sha256 === sha256;
  }

  noteVerified(url: string, sha256: string): void {
    const file = this.record.files.get(url);
    if (!file) return;
    file.sha256 = sha256;
    this.record.noteChange(file);
  }

  /** Nothing of a file is right: its pieces go. Never throws. */
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

  /** The load ended because of what its files hold: the pieces that it read go, and the next load fetches them. Never throws. */
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

  /** The server has other bytes for a piece than those that were kept. */
  replace(file: FileManifest, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.lose(file, index);
    return this.keep(file, index, bytes);
  }

  noteCompared(file: FileManifest): void {
    file.isCompared = true;
    this.record.noteChange(file);
  }

  /** From now on pieces of this file are kept. */
  adopt(file: FileManifest): void {
    this.record.adopt(file);
  }

  /** All of a file that was arriving is here. Never throws. */
  noteArrived(file: FileManifest): Promise<void> {
    delete file.isArriving;
    this.record.noteChange(file);
    return this.flush();
  }

  /** The end of a file that was arriving does not come: its pieces go, unless others share them. Never throws. */
  async release(file: FileManifest): Promise<void> {
    await this.pieces.settle();
    const names = new Set(file.hashes.filter((name) => name !== null));
    for (const name of names) this.pieces.wanted.delete(name);
    await withTimeout(() => removeUnnamed(this.stores, names, this.pieces.wanted)).catch(() => {}); // the next deletion of a model finds them
  }

  /** Whether a whole model is known to have no such file. */
  isAbsent(url: string): boolean {
    return this.isWhole && (this.record.model?.absent.includes(url) ?? false);
  }

  noteAbsent(url: string): void {
    this.record.absent.add(url);
  }

  /** A piece, if it is here and holds what its name says. */
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

  /** Keeps a piece; the bytes may be changed once this is settled. Never throws. */
  async keep(file: FileManifest, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.record.isGone) return void this.missed.add(file);
    await this.pieces.keep(bytes, (name) => {
      if (name === null) return void this.missed.add(file);
      file.hashes[index] = name;
      delete file.isCompared;
      this.record.noteChange(file);
    });
  }

  /** The model was opened without an error: these are its files, all of them. Never throws. */
  finish(name: string): Promise<void> {
    return this.record.finish(name);
  }

  /** Writes the manifests of what is here, pieces under way included. Never throws. */
  flush(): Promise<void> {
    return this.record.flush();
  }
}
