// Files in memory or on disk, read as a ByteSource.

import { ModelFileError } from '../../errors';
import { checkRange } from '../checks/bounds';
import type { ByteSource, OpenOptions } from './byte_source';

/** Bytes per read of a Blob: large enough for speed, small enough for smooth progress and a quick abort. */
const PIECE_BYTES = 8 * 1024 * 1024;

/** A source that returns copies. */
export interface BlobSource extends ByteSource {
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** A ByteSource of a dropped file, or of a response body in memory. */
export function blobSource(name: string, blob: Blob, options: OpenOptions = {}): BlobSource {
  const { signal, onBytes } = options;

  async function piece(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = new Uint8Array(await blob.slice(start, end).arrayBuffer());
    } catch (error) {
      // NotFoundError or NotReadableError: the file was moved or changed since it was chosen.
      throw new ModelFileError(name, `bytes ${start} to ${end} could not be read (${error}). Choose the file again.`);
    }
    signal?.throwIfAborted();
    if (bytes.length !== end - start) {
      throw new ModelFileError(
        name,
        `asked for ${end - start} bytes at ${start}, got ${bytes.length}. Choose the file again.`,
      );
    }
    onBytes?.(bytes.length);
    return bytes;
  }

  return {
    name,
    size: blob.size,
    async read(offset, length) {
      checkRange(name, blob.size, offset, length);
      if (length <= PIECE_BYTES) return piece(offset, offset + length);
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length; done += PIECE_BYTES) {
        bytes.set(await piece(offset + done, offset + Math.min(done + PIECE_BYTES, length)), done);
      }
      return bytes;
    },
  };
}
