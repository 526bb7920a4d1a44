// The work on pieces that takes time: reading, hashing and writing them. It is done in the thread that loads, or in
// others beside it (piece_threads).

import { type PieceStore, pieceName } from './piece_store';

export interface PieceWork {
  /** A piece's bytes and the name that they should have, or null if missing. @throws as PieceStore.read */
  read(name: string): Promise<{ bytes: Uint8Array<ArrayBuffer>; found: string } | null>;
  /** The name of bytes that are to be written. */
  name(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Writes bytes under the name that they were given. @throws as PieceStore.write */
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Ends the work, after what is in progress. */
  end(): void;
}

/** Work in this thread. */
export function workHere(store: Pick<PieceStore, 'read' | 'write'>): PieceWork {
  return {
    async read(name) {
      const bytes = await store.read(name);
      return bytes && { bytes, found: await pieceName(bytes) };
    },
    name: pieceName,
    write: (name, bytes) => store.write(name, bytes),
    end() {},
  };
}
