// The pieces of all prompts of this site, within a bound: the least recently used go first, and of a prompt its end.

import { LateError, withTimeout } from '../../shared/with_timeout';
import { openPromptFiles, type PromptFile, type PromptFiles } from './prompt_files';
import { HEADER_BYTES, ownerOf, type Piece, packPiece, parseName, parsePiece } from './prompt_piece';

const MOST_BYTES = 2 ** 28;
/** Uses so close are one: a touch writes to the disk. */
const TOUCH_MS = 3_600_000;
/** Longest wait for the folder and its list. */
const OPEN_MS = 1000;
/** Longest wait for a piece. A prompt is computed sooner. */
const PIECE_MS = 2000;

export class PromptStore {
  /** The files as last listed, and what was done since. */
  private readonly known = new Map<string, PromptFile>();
  /** Storage that does not answer is not asked again. */
  private isLate = false;

  private constructor(
    private readonly files: PromptFiles,
    private readonly mostBytes: number,
    private readonly now: () => number,
  ) {}

  static async open(files: PromptFiles, mostBytes = MOST_BYTES, now = Date.now): Promise<PromptStore> {
    const store = new PromptStore(files, mostBytes, now);
    await store.refresh();
    return store;
  }

  /** Lists the files anew: other tabs write and delete, too. */
  async refresh(): Promise<void> {
    const files = await this.ask(() => this.files.list());
    this.known.clear();
    for (const file of files) this.known.set(file.name, file);
  }

  /** Bytes of the pieces of an owner, or of all. */
  bytesOf(owner?: string): number {
    const files = [...this.known.values()].filter(({ name }) => isOf(name, owner));
    return files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Most pieces of so many bytes that the store holds. */
  room(bodyBytes: number): number {
    return Math.floor(this.mostBytes / (HEADER_BYTES + bodyBytes));
  }

  /** True if a piece seems to be there. `read` knows. */
  has(name: string, bodyBytes: number): boolean {
    return !this.isLate && this.known.get(name)?.bytes === HEADER_BYTES + bodyBytes;
  }

  /** A piece as it was kept, or null. A damaged one is removed. Never throws. */
  async read(name: string, bodyBytes: number): Promise<Piece | null> {
    try {
      const bytes = await this.ask(() => this.files.read(name));
      const piece = bytes && (await parsePiece(bytes, bodyBytes));
      if (piece) return piece;
      if (bytes) void this.remove(name); // the prompt is computed meanwhile
    } catch {
      // refused, late, or just being written by another tab
    }
    this.known.delete(name);
    return null;
  }

  /** Keeps a piece while `goesOn`. False where it is not kept. @throws where the browser refuses */
  async keep(name: string, piece: Piece, goesOn: () => boolean): Promise<boolean> {
    const bytes = await packPiece(piece);
    await this.makeRoom(name, bytes.length);
    if (!goesOn() || !(await this.files.write(name, bytes, goesOn))) return false;
    this.known.set(name, { name, bytes: bytes.length, usedAt: this.now() });
    return true;
  }

  /** Notes the use of a prompt's pieces, whose beginning counts as used last. Never throws. */
  async touch(names: readonly string[]): Promise<void> {
    for (const name of names.toReversed()) {
      const file = this.known.get(name);
      if (!file || this.now() - file.usedAt < TOUCH_MS) continue;
      file.usedAt = this.now();
      await this.files.touch(name).catch(() => {});
    }
  }

  /** Removes the pieces of an owner. */
  async clear(owner: string): Promise<void> {
    for (const name of [...this.known.keys()]) if (isOf(name, owner)) await this.remove(name);
  }

  async remove(name: string): Promise<void> {
    this.known.delete(name);
    await this.files.remove(name);
  }

  private async makeRoom(name: string, bytes: number): Promise<void> {
    const others = [...this.known.values()].filter((file) => file.name !== name);
    let sum = others.reduce((total, file) => total + file.bytes, bytes);
    const place = (file: PromptFile) => parseName(file.name)?.index ?? Number.POSITIVE_INFINITY;
    const order = others.toSorted((a, b) => a.usedAt - b.usedAt || place(b) - place(a));
    for (const victim of order) {
      if (sum <= this.mostBytes) return;
      sum -= victim.bytes;
      await this.remove(victim.name);
    }
  }

  private async ask<T>(work: () => Promise<T>): Promise<T> {
    if (this.isLate) throw new LateError(PIECE_MS);
    try {
      return await withTimeout(work, PIECE_MS);
    } catch (error) {
      this.isLate = error instanceof LateError;
      throw error;
    }
  }
}

function isOf(name: string, owner?: string): boolean {
  return owner === undefined || parseName(name)?.owner === owner;
}

/** Deletes the prompts of the model at an address. Never throws. */
export async function deletePrompts(location: string): Promise<void> {
  await (await openPrompts())?.clear(ownerOf(location));
}

/** The browser's store, or null where it keeps nothing for this page. */
export async function openPrompts(): Promise<PromptStore | null> {
  try {
    return await withTimeout(async () => PromptStore.open(await openPromptFiles()), OPEN_MS);
  } catch {
    return null;
  }
}
