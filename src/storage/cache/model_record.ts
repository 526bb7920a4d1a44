// The manifests of one model during a load: as stored, as they are now, and when they are written. Files are written
// while their pieces arrive, the model once it opened.

import { removeOutdated, removeUnnamed } from './cached_models';
import {
  type FileManifest,
  fileKey,
  isEnough,
  isWhole,
  type ModelManifest,
  mergeFiles,
  modelKey,
  parseFile,
  parseModel,
  type Resolved,
  sealedFile,
  sealedModel,
} from './manifest';
import type { PieceKeeper } from './piece_keeper';
import type { Stores } from './stores';
import type { TabWaits } from './tab_waits';

/** Pieces between two manifest writes. */
const PIECES_A_FLUSH = 4;
/** Idle time after which manifests are written anyway, in ms. */
const IDLE_MS = 1000;

export class ModelRecord {
  /** Every needed file is cached; nothing is asked of the network. */
  isWhole = false;
  /** Like `isWhole`, even when the server is asked for a newer version. */
  wasWhole = false;
  /** The model was deleted during the load and must not be written again. */
  isGone = false;
  /** The resolved hub repository of this load. */
  resolved: Resolved | null = null;
  /** The stored manifest of the model. */
  model: ModelManifest | null = null;
  readonly files = new Map<string, FileManifest>();
  readonly absent = new Set<string>();
  private name = '';
  private isOpened = false;
  private modelChanged = false;
  private unwritten = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private flushing: Promise<void> = Promise.resolve();
  /** The flush that has not begun, and writes all that changes until then. */
  private queued: Promise<void> | null = null;
  private readonly changed = new Set<string>();
  /** Keys known to be in the database. A missing one means that the model was deleted. */
  private readonly stored = new Set<string>();
  /** Names of pieces of a replaced version. */
  private readonly replaced = new Set<string>();

  constructor(
    private readonly location: string,
    private readonly stores: Stores,
    private readonly pieces: PieceKeeper,
    private readonly waits: TabWaits,
  ) {}

  /** Reads the stored manifests. @throws when the database refuses */
  async open(checksServer: boolean): Promise<void> {
    this.model = parseModel(this.location, await this.get(modelKey(this.location)));
    if (!this.model?.isOpened) return;
    const { files: urls } = this.model;
    const files = await Promise.all(urls.map((url) => this.lookUp(url)));
    this.wasWhole = files.every((file) => file !== null && isEnough(file));
    this.isWhole = this.wasWhole && !checksServer;
  }

  async lookUp(url: string): Promise<FileManifest | null> {
    return parseFile(url, await this.get(fileKey(url)));
  }

  adopt(file: FileManifest): void {
    this.files.set(file.url, file);
    this.modelChanged ||= !this.model?.files.includes(file.url);
  }

  noteChange(file: FileManifest): void {
    if (this.files.get(file.url) !== file || file.isArriving) return;
    this.changed.add(file.url);
    this.unwritten++;
    clearTimeout(this.idle);
    if (this.unwritten >= PIECES_A_FLUSH || isWhole(file)) void this.flush();
    else this.idle = setTimeout(() => void this.flush(), IDLE_MS);
  }

  /** Records the complete list of files of a model that opened without an error. Never throws. */
  finish(name: string): Promise<void> {
    this.name = name;
    this.isOpened = true;
    this.modelChanged = true;
    return this.flush();
  }

  /** Writes the manifests, after pieces in progress. Never throws. */
  flush(): Promise<void> {
    if (this.queued) return this.queued;
    const begin = () => {
      this.queued = null;
      return this.write();
    };
    this.queued = this.flushing = this.flushing.then(begin).catch(() => {
      this.pieces.keeps = false;
    });
    return this.queued;
  }

  private async write(): Promise<void> {
    await this.pieces.settle();
    clearTimeout(this.idle);
    if (!this.modelChanged && this.changed.size === 0) return;
    const urls = [...this.changed];
    this.changed.clear();
    this.unwritten = 0;
    // A new version replaces a complete one only when it is complete itself.
    const isOver = this.isOpened && (!this.wasWhole || [...this.files.values()].every(isEnough));
    const outdated = isOver ? (this.model?.files ?? []).filter((url) => !this.files.has(url)) : [];
    const writesModel = this.modelChanged || outdated.length > 0;
    this.modelChanged = false;
    try {
      await this.stores.manifests.alone(() => this.update(writesModel, isOver, urls), this.waits);
    } catch (error) {
      this.modelChanged ||= writesModel; // the next flush tries again
      for (const url of urls) this.changed.add(url);
      throw error;
    }
    if (outdated.length > 0 && this.model) this.model = { ...this.model, files: [...this.files.keys()] };
    this.sweep(outdated);
  }

  private async update(writesModel: boolean, isOver: boolean, urls: readonly string[]): Promise<void> {
    if (writesModel) {
      await this.change(modelKey(this.location), (old) =>
        sealedModel(this.describe(parseModel(this.location, old), isOver)),
      );
    }
    for (const url of urls) {
      const file = this.files.get(url);
      if (file) await this.change(fileKey(url), (old) => sealedFile(this.merge(parseFile(url, old), file)));
    }
  }

  /** Deletes replaced files and pieces. Deleting a model later finds whatever fails here. */
  private sweep(outdated: readonly string[]): void {
    if (outdated.length > 0) void removeOutdated(this.stores, outdated).catch(() => {});
    if (this.replaced.size === 0) return;
    const names = new Set(this.replaced);
    this.replaced.clear();
    void removeUnnamed(this.stores, names, this.pieces.wanted).catch(() => {});
  }

  private merge(old: FileManifest | null, file: FileManifest): FileManifest {
    const merged = mergeFiles(old, file, this.pieces.bad);
    const named = new Set(merged.hashes);
    for (const hash of old?.hashes ?? []) if (hash !== null && !named.has(hash)) this.replaced.add(hash);
    return merged;
  }

  private describe(old: ModelManifest | null, isOver: boolean): ModelManifest {
    const files = [...this.files.keys()];
    const kept = this.isWhole ? this.model : null;
    const resolved = isOver ? (this.resolved ?? kept?.resolved) : old?.resolved;
    const before = this.wasWhole ? (old?.files ?? []) : [...new Set([...(old?.files ?? []), ...files])];
    return {
      location: this.location,
      name: this.name || old?.name || this.location,
      files: isOver ? files : before,
      absent: isOver ? [...this.absent, ...(kept?.absent ?? [])] : (old?.absent ?? []),
      isOpened: isOver || (old?.isOpened ?? false),
      usedAt: Date.now(),
      ...(resolved && { resolved }),
    };
  }

  private async change(key: string, change: (old: unknown) => unknown): Promise<void> {
    await this.stores.manifests.update(key, (old) => {
      // Deleted during the load, here or in another tab: not written again.
      if (old === undefined && this.stored.has(key)) this.isGone = true;
      return this.isGone && old === undefined ? undefined : change(old);
    });
    if (!this.isGone) this.stored.add(key);
  }

  private async get(key: string): Promise<unknown> {
    const value = await this.stores.manifests.get(key);
    if (value !== undefined) this.stored.add(key);
    return value;
  }
}
