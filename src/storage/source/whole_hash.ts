// SHA-256 of a whole file from its pieces.

import { sha256 } from '@noble/hashes/sha2.js';
import { ModelFileError } from '../../errors';
import { toHex } from '../cache/piece_store';

/** An incremental SHA-256. The browser's own digest only takes whole files. */
export interface Hasher {
  /** Settles when `bytes` may be reused and the hasher has room for more. */
  update(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** The digest in hex. */
  digest(): Promise<string>;
}

/** A hasher in this thread. */
export function localHasher(): Hasher {
  const hash = sha256.create();
  return {
    async update(bytes) {
      hash.update(bytes);
    },
    digest: async () => toHex(hash.digest()),
  };
}

/** Most pieces held back until their turn. A sequential reader fetches that many ahead. */
const MAX_WAITING = 4;

/**
 * The SHA-256 of a whole file, computed in order from passing pieces, a few of which are held. Pieces may repeat. If a
 * reader skips pieces, the hash is never computed.
 */
export class WholeHash {
  private readonly waiting = new Map<number, Uint8Array<ArrayBuffer>>();
  private next = 0;
  private failure: ModelFileError | null = null;
  /** The pieces being hashed, one after another. */
  private hashing: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    private readonly nPieces: number,
    private readonly expected: string,
    private readonly hasher: Promise<Hasher> = Promise.resolve(localHasher()),
  ) {}

  /**
   * Adds a piece. True when the file is complete, once. Settles when there is room for more.
   * @throws ModelFileError if the complete file has another hash, now and for every later piece
   */
  async add(index: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    if (this.failure) throw this.failure;
    if (index < this.next || this.waiting.has(index)) return false;
    if (index > this.next) {
      if (this.waiting.size < MAX_WAITING) this.waiting.set(index, bytes);
      return false;
    }
    for (let piece: Uint8Array<ArrayBuffer> | undefined = bytes; piece; piece = this.waiting.get(this.next)) {
      const taken = piece;
      this.waiting.delete(this.next++);
      this.hashing = this.hashing.then(async () => (await this.hasher).update(taken));
    }
    const isLast = this.next === this.nPieces;
    await this.hashing;
    if (!isLast) return false;
    const found = await (await this.hasher).digest();
    if (found === this.expected) return true;
    const what = `has the SHA-256 ${found} and should have ${this.expected}`;
    this.failure = new ModelFileError(this.name, `${what}. Nothing of it was kept; load the model again.`);
    throw this.failure;
  }
}
