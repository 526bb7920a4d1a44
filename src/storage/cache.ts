// Keeps the files of one model while it loads, and gives them back at the next load: pieces by content, manifests last.
// Storage that refuses, fills up or loses things never breaks a load: it goes on from the network.

import { describeFull } from './cache_full';
import { removeOutdated, removeUnnamed } from './cached_models';
import {
  type FileManifest,
  fileKey,
  isEnough,
  isSameVersion,
  isWhole,
  type ModelManifest,
  mergeFiles,
  modelKey,
  parseFile,
  parseModel,
  pieceLength,
  type Resolved,
} from './manifest';
import { type Presence, soon } from './manifest_store';
import { isQuotaError, pieceName } from './piece_store';
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

/** Manifests are written after so many pieces, */
const PIECES_A_FLUSH = 4;
/** or when no piece came for so long. */
const IDLE_MS = 1000;
/** A piece that takes longer to write or read counts as refused. */
const PIECE_PATIENCE_MS = 20_000;

export class ModelCache {
  /** Every file that the model needs is here: nothing of it is asked of the network. */
  isWhole = false;
  /** As `isWhole`, but the network is asked all the same. */
  wasWhole = false;
  private resolved: Resolved | null = null;
  private presence: Presence = { others: false, leave() {} };
  private model: ModelManifest | null = null;
  private name = '';
  private isOpened = false;
  private isFull = false;
  private keeps = true;
  private isGone = false;
  private modelChanged = false;
  private unwritten = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private telling: Promise<void> = Promise.resolve();
  private flushing: Promise<void> = Promise.resolve();
  private readonly files = new Map<string, FileManifest>();
  private readonly absent = new Set<string>();
  private readonly changed = new Set<string>();
  /** Keys that the database is known to have: when one is gone, someone deleted the model. */
  private readonly stored = new Set<string>();
  /** Names of pieces that did not hold what their name says. */
  private readonly bad = new Set<string>();
  /** Names of pieces of a version that is no more. */
  private readonly replaced = new Set<string>();
  /** Names of pieces that this load keeps: not to be removed, though no manifest may name them yet. */
  private readonly wanted = new Set<string>();
  /** Files of which a piece was read and could not be kept. */
  private readonly missed = new Set<FileManifest>();
  private readonly keeping = new Set<Promise<void>>();

  private constructor(
    private readonly location: string,
    private readonly stores: Stores,
    private readonly onWarning: OnCacheWarning,
  ) {}

  /** To be closed after the load. @throws where the database refuses */
  static async open(location: string, stores: Stores, onWarning: OnCacheWarning, asks = false): Promise<ModelCache> {
    const cache = new ModelCache(location, stores, onWarning);
    cache.model = parseModel(location, await soon(cache.get(modelKey(location))));
    if (cache.model?.isOpened) {
      const files = await soon(Promise.all(cache.model.files.map((url) => cache.lookUp(url))));
      cache.wasWhole = files.every((file) => file !== null && isEnough(file));
      cache.isWhole = cache.wasWhole && !asks;
    }
    cache.presence = await soon(stores.manifests.join(location)).catch(() => cache.presence);
    return cache;
  }

  /** The load ended well: of each file no more is needed than was read. */
  noteLoaded(): void {
    for (const file of this.files.values()) {
      if (isEnough(file) || this.missed.has(file)) continue;
      file.isEnough = true;
      this.noteChange(file);
    }
  }

  /** The load is over, well or not; what is under way is still kept. Never throws. */
  async close(): Promise<void> {
    await this.flush();
    await this.telling;
    this.presence.leave();
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
    return this.model?.resolved ?? null;
  }

  noteResolved(resolved: Resolved): void {
    this.resolved = resolved;
  }

  /** The network does not answer: what was whole before it was asked is used as it is. */
  goOffline(): boolean {
    this.isWhole = this.wasWhole;
    this.files.clear();
    return this.isWhole;
  }

  /** Work on a file or piece that no other tab does meanwhile. */
  turn<T>(
    name: string,
    work: (hold: (until: Promise<unknown>) => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.keeps ? this.stores.manifests.turn(name, work, signal) : work(() => {});
  }

  /** What is known of a file, or null. */
  async find(url: string, pieceBytes: number): Promise<FileManifest | null> {
    const file = await soon(this.lookUp(url)).catch(() => null);
    return file?.pieceBytes === pieceBytes ? file : null;
  }

  /** A file of this model's version before with this SHA-256 in hex, or null. */
  async findContent(sha256: string, pieceBytes: number): Promise<FileManifest | null> {
    for (const url of this.model?.files ?? []) {
      const file = await this.find(url, pieceBytes);
      if (file?.sha256 === sha256) return file;
    }
    return null;
  }

  /** Takes over what another tab has written of a piece since. */
  async refresh(file: FileManifest, index: number): Promise<void> {
    const known = await this.find(file.url, file.pieceBytes);
    const name = known && isSameVersion(file, known) ? known.hashes[index] : null;
    if (name !== null && !this.bad.has(name)) file.hashes[index] = name;
  }

  /** Whether all bytes of a file were found to have this SHA-256 before. */
  isVerified(url: string, sha256: string): boolean {
    return this.files.get(url)?.sha256 === sha256;
  }

  noteVerified(url: string, sha256: string): void {
    const file = this.files.get(url);
    if (!file) return;
    file.sha256 = sha256;
    this.noteChange(file);
  }

  /** Nothing of a file is right: its pieces go. Never throws. */
  async drop(url: string): Promise<void> {
    const file = this.files.get(url);
    if (!file) return;
    await Promise.allSettled(this.keeping);
    for (const [index, name] of file.hashes.entries()) {
      if (name === null) continue;
      this.bad.add(name);
      await this.stores.pieces.remove(name);
      file.hashes[index] = null;
    }
    delete file.sha256;
    delete file.isEnough;
    this.noteChange(file);
    await this.flush();
  }

  /** From now on pieces of this file are kept. */
  adopt(file: FileManifest): void {
    this.files.set(file.url, file);
    this.modelChanged ||= !this.model?.files.includes(file.url);
  }

  /** Whether a whole model is known to have no such file. */
  isAbsent(url: string): boolean {
    return this.isWhole && (this.model?.absent.includes(url) ?? false);
  }

  noteAbsent(url: string): void {
    this.absent.add(url);
  }

  /** A piece, if it is here and holds what its name says. */
  async read(file: FileManifest, index: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const name = file.hashes[index];
    if (name === null) return null;
    const bytes = await soon(this.stores.pieces.read(name), PIECE_PATIENCE_MS).catch(() => null);
    if (bytes?.length === pieceLength(file, index) && (await pieceName(bytes)) === name) return bytes;
    if (bytes) await this.stores.pieces.remove(name);
    file.hashes[index] = null;
    delete file.sha256;
    delete file.isEnough;
    this.bad.add(name);
    this.noteChange(file);
    return null;
  }

  /** Keeps a piece; the bytes may be changed once this is settled. Never throws. */
  keep(file: FileManifest, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (!this.keeps || this.isGone) {
      this.missed.add(file);
      return Promise.resolve();
    }
    const work = async () => {
      const name = await pieceName(bytes);
      this.wanted.add(name);
      await soon(this.stores.pieces.write(name, bytes), PIECE_PATIENCE_MS);
      this.bad.delete(name);
      file.hashes[index] = name;
      this.noteChange(file);
    };
    const kept = work()
      .catch((error) => {
        this.missed.add(file);
        this.stop(error);
      })
      .finally(() => this.keeping.delete(kept));
    this.keeping.add(kept);
    return kept;
  }

  /** The model was opened without an error: these are its files, all of them. Never throws. */
  finish(name: string): Promise<void> {
    this.name = name;
    this.isOpened = true;
    this.modelChanged = true;
    return this.flush();
  }

  /** Writes the manifests of what is here, pieces under way included. Never throws. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.writeManifests()).catch((error) => this.stop(error));
    return this.flushing;
  }

  private async writeManifests(): Promise<void> {
    await Promise.allSettled(this.keeping);
    clearTimeout(this.idle);
    if (!this.modelChanged && this.changed.size === 0) return;
    const urls = [...this.changed];
    this.changed.clear();
    this.unwritten = 0;
    // A version that replaces a whole one does so when it is whole itself.
    const isOver = this.isOpened && (!this.wasWhole || this.allHere());
    const outdated = isOver ? (this.model?.files ?? []).filter((url) => !this.files.has(url)) : [];
    const writesModel = this.modelChanged || outdated.length > 0;
    this.modelChanged = false;
    await soon(
      this.stores.manifests.alone(async () => {
        if (writesModel) {
          await this.update(modelKey(this.location), (old) =>
            this.modelManifest(parseModel(this.location, old), isOver),
          );
        }
        for (const url of urls) {
          const file = this.files.get(url);
          if (file) await this.update(fileKey(url), (old) => this.merge(parseFile(url, old), file));
        }
      }),
    );
    if (outdated.length > 0 && this.model) {
      this.model = { ...this.model, files: [...this.files.keys()] };
      void removeOutdated(this.stores, outdated).catch(() => {}); // the next deletion of a model finds them
    }
    if (this.replaced.size === 0) return;
    const names = new Set(this.replaced);
    this.replaced.clear();
    void removeUnnamed(this.stores, names, this.wanted).catch(() => {}); // the next deletion of a model finds them
  }

  private merge(old: FileManifest | null, file: FileManifest): FileManifest {
    const merged = mergeFiles(old, file, this.bad);
    const named = new Set(merged.hashes);
    for (const hash of old?.hashes ?? []) if (hash !== null && !named.has(hash)) this.replaced.add(hash);
    return merged;
  }

  private modelManifest(old: ModelManifest | null, isOver: boolean): ModelManifest {
    const files = [...this.files.keys()];
    const resolved = isOver ? (this.resolved ?? this.keptAs) : (old?.resolved ?? null);
    const before = this.wasWhole ? (old?.files ?? []) : [...new Set([...(old?.files ?? []), ...files])];
    return {
      location: this.location,
      name: this.name || old?.name || this.location,
      files: isOver ? files : before,
      absent: isOver ? [...this.absent, ...((this.isWhole && this.model?.absent) || [])] : (old?.absent ?? []),
      isOpened: isOver || (old?.isOpened ?? false),
      usedAt: Date.now(),
      ...(resolved && { resolved }),
    };
  }

  private allHere(): boolean {
    return [...this.files.values()].every(isEnough);
  }

  private async update(key: string, change: (old: unknown) => unknown): Promise<void> {
    await this.stores.manifests.update(key, (old) => {
      // Deleted, here or in another tab, while it loads: it is not brought back.
      if (old === undefined && this.stored.has(key)) this.isGone = true;
      if (this.isGone && old === undefined) return undefined;
      this.stored.add(key);
      return change(old);
    });
  }

  private noteChange(file: FileManifest): void {
    if (this.files.get(file.url) !== file) return;
    this.changed.add(file.url);
    this.unwritten++;
    clearTimeout(this.idle);
    if (this.unwritten >= PIECES_A_FLUSH || isWhole(file)) void this.flush();
    else this.idle = setTimeout(() => void this.flush(), IDLE_MS);
  }

  private stop(error: unknown): void {
    this.keeps = false;
    if (!isQuotaError(error) || this.isFull) return;
    this.isFull = true;
    const files = [...this.files.values()];
    this.telling = describeFull(this.stores, this.location, files).then((message) =>
      this.onWarning({ code: 'cache-full', message }),
    );
  }

  private async lookUp(url: string): Promise<FileManifest | null> {
    return parseFile(url, await this.get(fileKey(url)));
  }

  private async get(key: string): Promise<unknown> {
    const value = await this.stores.manifests.get(key);
    if (value !== undefined) this.stored.add(key);
    return value;
  }
}
