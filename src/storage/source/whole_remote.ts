// A file that arrives whole in one answer.

import { ModelFetchError } from '../../errors';
import { type FileManifest, newFile, nPieces } from '../cache/manifest';
import { checkTextSize } from '../checks/bounds';
import type { FileKind, OpenOptions } from './byte_source';
import { type Answer, refuseWebPage, shown, urlFileName } from './http';
import { digestOf, versionOf } from './range_remote';
import type { RemoteFile } from './remote';

/**
 * Reads a file from one answer to the end, with one piece in memory at a time. Pieces go to the cache or, without a
 * willing cache, to Blobs. A browser may hold fewer Blobs than a model needs.
 * @throws ModelFetchError for a web page, or a piece that the browser lost; ModelFileError for text past 64 MB
 */
export async function wholeRemote(
  url: string,
  answer: Answer,
  kind: FileKind,
  options: OpenOptions,
  pieceBytes: number,
): Promise<RemoteFile> {
  try {
    refuseWebPage(url, answer);
  } catch (error) {
    answer.discard();
    throw error;
  }
  const arriving = new ArrivingFile(url, versionOf(answer), pieceBytes, options);
  let size = 0;
  try {
    await answer.read((chunk) => {
      if (size === 0) refuseWebPage(url, answer, chunk, kind === 'json');
      size += chunk.length;
      if (kind !== 'weights') checkTextSize(urlFileName(url), size);
      options.onBytes?.(chunk.length);
      return arriving.add(chunk);
    });
  } catch (error) {
    await options.cache?.release(arriving.file);
    throw error;
  }
  await arriving.end();
  // Another origin may hide the content encoding. An equal length proves that the answer was not compressed.
  if (Number(answer.headers.get('content-length')) === arriving.size) arriving.digest = digestOf(answer);
  return arriving;
}

class ArrivingFile implements RemoteFile {
  readonly isWhole = true;
  digest: string | null = null;
  /** Sized for the stored pieces and one more, until the end arrives. */
  readonly file: FileManifest;
  private readonly piece: Uint8Array<ArrayBuffer>;
  private filled = 0;
  private index = 0;
  private readonly blobs = new Map<number, Blob>();

  constructor(
    private readonly url: string,
    readonly version: string,
    pieceBytes: number,
    private readonly options: OpenOptions,
  ) {
    this.file = { ...newFile(url, pieceBytes, version, pieceBytes), isArriving: true };
    this.piece = new Uint8Array(pieceBytes);
    options.cache?.adopt(this.file);
  }

  get size(): number {
    return this.file.size;
  }

  async add(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      if (this.filled === this.piece.length) {
        this.file.size += this.piece.length;
        this.file.hashes.push(null);
        await this.put();
      }
      const part = chunk.subarray(at, at + this.piece.length - this.filled);
      this.piece.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
    }
  }

  async end(): Promise<void> {
    this.file.size += this.filled - this.piece.length;
    this.file.hashes.length = nPieces(this.file);
    if (this.filled > 0) await this.put();
    await this.options.cache?.noteArrived(this.file);
  }

  private async put(): Promise<void> {
    const bytes = this.piece.subarray(0, this.filled);
    const index = this.index++;
    this.filled = 0;
    await this.options.cache?.keep(this.file, index, bytes);
    if (this.file.hashes[index] === null) this.blobs.set(index, new Blob([bytes]));
  }

  readonly fetchRange = async (offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> => {
    const { cache, signal } = this.options;
    const index = offset / this.piece.length;
    const blob = this.blobs.get(index);
    const bytes = blob ? await bytesOf(blob) : await cache?.read(this.file, index);
    signal?.throwIfAborted();
    if (bytes?.length === length) return bytes;
    const what = `${shown(this.url)} came whole, and this browser lost a part of its ${this.size} bytes`;
    const remedy = 'Load the model again; if that does not help, download it and open the file.';
    throw new ModelFetchError(this.url, null, `${what}. ${remedy}`);
  };
}

/** The Blob's bytes, or null if the browser had no room for them. */
async function bytesOf(blob: Blob): Promise<Uint8Array<ArrayBuffer> | null> {
  return blob.arrayBuffer().then(
    (buffer) => new Uint8Array(buffer),
    () => null,
  );
}
