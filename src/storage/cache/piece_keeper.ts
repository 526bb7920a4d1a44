// The pieces of one load: written until the browser refuses, and read back only if they hold what their names say.

import { withTimeout } from '../../shared/with_timeout';
import { isQuotaError, type PieceStore, pieceName } from './piece_store';

/** A piece that takes longer to write or read counts as refused. */
const TIMEOUT_MS = 20_000;

export class PieceKeeper {
  /** The browser refused nothing yet. */
  keeps = true;
  /** Names of pieces that did not hold what their name says. */
  readonly bad = new Set<string>();
  /** Names of pieces that this load keeps: not to be removed, though no manifest may name them yet. */
  readonly wanted = new Set<string>();
  /** Names of pieces that this load read or kept. */
  readonly used = new Set<string>();
  private isFull = false;
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly store: PieceStore,
    /** Storage has no room for more; told once. */
    private readonly onFull: () => void,
  ) {}

  /** Keeps a piece and tells its name, or null where it is refused, before `settle` does. Never throws. */
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

  /** Waits for what is being written. Never throws. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.writing);
  }

  /** A piece of so many bytes, or null where it is not here, or is another one, which is removed. */
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

  /** Never throws. */
  async remove(name: string): Promise<void> {
    this.bad.add(name);
    await withTimeout(() => this.store.remove(name), TIMEOUT_MS).catch(() => {}); // a later sweep finds it
  }

  /** From now on nothing is kept. */
  stop(error: unknown): void {
    this.keeps = false;
    if (!isQuotaError(error) || this.isFull) return;
    this.isFull = true;
    this.onFull();
  }
}
