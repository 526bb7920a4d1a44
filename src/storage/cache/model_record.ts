// What is known of one model while it loads, as it was kept and as it is now, and the writing of it: files as their pieces come,
// the model when it was opened.

import { withTimeout } from '../../shared/with_timeout';
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

/** Manifests are written after so many pieces, */
const PIECES_A_FLUSH = 4;
/** or when no piece came for so long. */
const IDLE_MS = 1000;

export class ModelRecord {
  /** Every file that the model needs is here: nothing of it is asked of the network. */
  isWhole = false;
  /** As `isWhole`, but the network is asked all the same. */
  wasWhole = false;
  /** The model was deleted since it was read: it is not brought back. */
  isGone = false;
  /** Of a hub's repository: what it was found to be now. */
  resolved: Resolved | null = null;
  /** As it was kept. */
  model: ModelManifest | null = null;
  readonly files = new Map<string, FileManifest>();
  readonly absent = new Set<string>();
  private name = '';
  private isOpened = false;
  private modelChanged = false;
  private unwritten = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private readonly changed = new Set<string>();
  /** Keys that the database is known to have: when one is gone, someone deleted the model. */
  private readonly stored = new Set<string>();
  /** Names of pieces of a version that is no more. */
  private readonly replaced = new Set<string>();

  constructor(
    private readonly location: string,
    private readonly stores: Stores,
    private readonly pieces: PieceKeeper,
  ) {}

  /** Reads what is kept. @throws where the database refuses */
  async open(asks: boolean): Promise<void> {
    this.model = parseModel(this.location, await withTimeout(() => this.get(modelKey(this.location))));
    if (!this.model?.isOpened) return;
    const { files: urls } = this.model;
    const files = await withTimeout(() => Promise.all(urls.map((url) => this.lookUp(url))));
    this.wasWhole = files.every((file) => file !== null && isEnough(file));
    this.isWhole = this.wasWhole && !asks;
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

  /** The model was opened without an error: these are its files, all of them. Never throws. */
  finish(name: string): Promise<void> {
    this.name = name;
    this.isOpened = true;
    this.modelChanged = true;
    return this.flush();
  }

  /** Writes the manifests of what is here, pieces under way included. Never throws. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.write()).catch((error) => this.pieces.stop(error));
    return this.flushing;
  }

  private async write(): Promise<void> {
    await this.pieces.settle();
    clearTimeout(this.idle);
    if (!this.modelChanged && this.changed.size === 0) return;
    const urls = [...this.changed];
    this.changed.clear();
    this.unwritten = 0;
    // A version that replaces a whole one does so when it is whole itself.
    const isOver = this.isOpened && (!this.wasWhole || [...this.files.values()].every(isEnough));
    const outdated = isOver ? (this.model?.files ?? []).filter((url) => !this.files.has(url)) : [];
    const writesModel = this.modelChanged || outdated.length > 0;
    this.modelChanged = false;
    await withTimeout(() =>
      this.stores.manifests.alone(async () => {
        if (writesModel) {
          await this.update(modelKey(this.location), (old) =>
            sealedModel(this.describe(parseModel(this.location, old), isOver)),
          );
        }
        for (const url of urls) {
          const file = this.files.get(url);
          if (file) await this.update(fileKey(url), (old) => sealedFile(this.merge(parseFile(url, old), file)));
        }
      }),
    );
    if (outdated.length > 0 && this.model) this.model = { ...this.model, files: [...this.files.keys()] };
    this.sweep(outdated);
  }

  /** What fails here the next deletion of a model finds. */
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

  private async update(key: string, change: (old: unknown) => unknown): Promise<void> {
    await this.stores.manifests.update(key, (old) => {
      // Deleted, here or in another tab, while it loads: it is not brought back.
      if (old === undefined && this.stored.has(key)) this.isGone = true;
      if (this.isGone && old === undefined) return undefined;
      this.stored.add(key);
      return change(old);
    });
  }

  private async get(key: string): Promise<unknown> {
    const value = await this.stores.manifests.get(key);
    if (value !== undefined) this.stored.add(key);
    return value;
  }
}
