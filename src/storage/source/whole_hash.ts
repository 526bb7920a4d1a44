import { sha256 } from '@noble/hashes/sha2.js';
import { ModelFileError } from '../../errors';
import { toHex } from '../cache/piece_store';

/** SHA-256 of bytes that come in pieces, in order: the browser's own takes a file whole. */
export interface Hasher {
  /** Settles when `bytes` may be changed again and there is room for more. */
  update(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** In hex. */
  digest(): Promise<string>;
}

/** In this thread. */
export function localHasher(): Hasher {
  const hash = sha256.create();
  return {
    async update(bytes) {
      hash.update(bytes);
    },
    digest: async () => toHex(hash.digest()),
  };
}

/** Pieces that came before their turn and are held for it; a walk through a file reads that few ahead. */
const MAX_WAITING = 4;

/**
 * The SHA-256 of a whole file from its pieces, taken in order as they pass: no more than a few are held. Pieces may repeat.
 * Where a reader leaves some out, nothing is found out.
 */
export class WholeHash {
  private readonly waiting = new Map<number, Uint8Array<ArrayBuffer>>();
  private next = 0;
  private failure: ModelFileError | null = null;
  /** Pieces that are being hashed, one after another. */
  private hashing: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    private readonly nPieces: number,
    private readonly expected: string,
    private readonly hasher: Promise<Hasher> = Promise.resolve(localHasher()),
  ) {}

  /**
   * Whether all pieces have passed now, for the first time. Settles when there is room for more.
   * @throws ModelFileError when they have and are not what was expected, now and for every piece after
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
