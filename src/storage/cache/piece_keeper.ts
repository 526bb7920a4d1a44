// Writes and reads the pieces of one load. Writing ends when the browser refuses; reading checks the content's hash.

import { withTimeout } from '../../shared/with_timeout';
import { isQuotaError, type PieceStore, pieceName } from './piece_store';

/** Time after which a read or write counts as refused. */
const TIMEOUT_MS = 20_000;

export class PieceKeeper {
  /** True until the browser refuses a write. */
  keeps = true;
  /** Names of pieces whose content did not match. */
  readonly bad = new Set<string>();
  /** Names of pieces that this load keeps, protected from removal before a manifest names them. */
  readonly wanted = new Set<string>();
  /** Names of pieces that this load read or wrote. */
  readonly used = new Set<string>();
  private isFull = false;
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly store: PieceStore,
    /** Called once when storage is full. */
    private readonly onFull: () => void,
  ) {}

  /** Stores a piece and passes its name, or null when refused, before `settle` resolves. Never throws. */
  keep(bytes: Uint8Array<ArrayBuffer>, onKept: (name: string | null) => void): Promise<void> {
    if (!this.keeps) return Promise.resolve(onKept(null));
    const kept = this.write(bytes)
      .catch((error) => {
        this.stop(error);
        return null;
      })
      .then(onKept)
      .finally(() => this.writing.delete(kept));
    this.writing.add(kept);
    return kept;
  }

  private async write(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const name = await pieceName(bytes);
    this.wanted.add(name);
    this.used.add(name);
    await withTimeout(() => this.store.write(name, bytes), TIMEOUT_MS);
    this.bad.delete(name);
    return name;
  }

  /** Waits for writes in progress. Never throws. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.writing);
  }

  /** A piece with this length and matching content, or null. A piece with other content is removed. */
  async read(name: string, length: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = await withTimeout(() => this.store.read(name), TIMEOUT_MS).catch(() => null);
    if (bytes?.length === length && (await pieceName(bytes)) === name) {
      this.used.add(name);
      return bytes;
    }
    if (bytes) await this.remove(name);
    this.bad.add(name);
    return null;
  }

  /** Removes a piece. Never throws. */
  async remove(name: string): Promise<void> {
    this.bad.add(name);
    await withTimeout(() => this.store.remove(name), TIMEOUT_MS).catch(() => {}); // a later sweep finds it
  }

  /** Ends all writing after `error`. */
  stop(error: unknown): void {
    this.keeps = false;
    if (!isQuotaError(error) || this.isFull) return;
    this.isFull = true;
    this.onFull();
  }
}
