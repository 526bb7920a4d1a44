// Writes and reads the pieces of one load. Writing ends when the browser refuses; reading checks the content's hash.

import { LateError } from '../../shared/with_timeout';
import type { PieceStore } from './piece_store';
import type { PieceWork } from './piece_work';

export class PieceKeeper {
  /** True until the browser refuses a write. */
  keeps = true;
  /** Names of pieces that are missing, unreadable, or of other content. */
  readonly bad = new Set<string>();
  /** Names of pieces that this load keeps, protected from removal before a manifest names them. */
  readonly wanted = new Set<string>();
  /** Names of pieces that this load read or wrote. */
  readonly used = new Set<string>();
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly store: PieceStore,
    private readonly work: PieceWork,
  ) {}

  /** Stores a piece and passes its name, or null when refused, before `settle` resolves. Never throws. */
  keep(bytes: Uint8Array<ArrayBuffer>, onKept: (name: string | null) => void): Promise<void> {
    if (!this.keeps) return Promise.resolve(onKept(null));
    const kept = this.write(bytes)
      .catch(() => {
        this.keeps = false;
        return null;
      })
      .then(onKept)
      .finally(() => this.writing.delete(kept));
    this.writing.add(kept);
    return kept;
  }

  private async write(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const name = await this.work.name(bytes);
    this.wanted.add(name);
    this.used.add(name);
    if (this.bad.has(name)) await this.remove(name); // a store leaves a file of this name and size as it is
    await this.work.write(name, bytes);
    this.bad.delete(name);
    return name;
  }

  /** Ends the work after what is in progress. Nothing is read or kept from then on. */
  async end(): Promise<void> {
    await this.settle();
    this.work.end();
  }

  /** Waits for writes in progress. Never throws. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.writing);
  }

  /**
   * A piece with this length and matching content, or null. A piece with other content is removed. One that storage
   * does not return in time is not bad: the next load may read it.
   */
  async read(name: string, length: number): Promise<Uint8Array<ArrayBuffer> | null> {
    let piece: Awaited<ReturnType<PieceWork['read']>> = null;
    try {
      piece = await this.work.read(name);
    } catch (error) {
      if (error instanceof LateError) return null;
    }
    if (piece?.bytes.length === length && piece.found === name) {
      this.used.add(name);
      return piece.bytes;
    }
    if (piece) await this.remove(name);
    this.bad.add(name);
    return null;
  }

  /** Removes a piece. Never throws. */
  async remove(name: string): Promise<void> {
    this.bad.add(name);
    await this.store.remove(name).catch(() => {}); // a later sweep finds it
  }
}
