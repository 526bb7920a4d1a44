import { sha256 } from '@noble/hashes/sha2.js';
import { ModelFileError } from '../errors';

/** Pieces that came before their turn and are held for it; a walk through a file reads that few ahead. */
const MAX_WAITING = 4;

/**
 * The SHA-256 of a whole file from its pieces, taken in order as they pass: no more than a few are held. Pieces may repeat.
 * Where a reader leaves some out, nothing is found out. The browser's own SHA-256 takes no file in pieces.
 */
export class WholeHash {
  private readonly hash = sha256.create();
  private readonly waiting = new Map<number, Uint8Array>();
  private next = 0;
  private failure: ModelFileError | null = null;

  constructor(
    private readonly name: string,
    private readonly nPieces: number,
    private readonly expected: string,
  ) {}

  /**
   * Whether all pieces have passed now, for the first time.
   * @throws ModelFileError when they have and are not what was expected, now and for every piece after
   */
  add(index: number, bytes: Uint8Array): boolean {
    if (this.failure) throw this.failure;
    if (index < this.next || this.waiting.has(index)) return false;
    if (index > this.next) {
      if (this.waiting.size < MAX_WAITING) this.waiting.set(index, bytes);
      return false;
    }
    for (let piece: Uint8Array | undefined = bytes; piece; piece = this.waiting.get(this.next)) {
      this.waiting.delete(this.next++);
      this.hash.update(piece);
    }
    if (this.next < this.nPieces) return false;
    const found = [...this.hash.digest()].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    if (found === this.expected) return true;
    const what = `has the SHA-256 ${found}, where the hub says ${this.expected}`;
    this.failure = new ModelFileError(this.name, `${what}. Nothing of it was kept; load the model again.`);
    throw this.failure;
  }
}
