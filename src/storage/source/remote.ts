// A file on the network.

import type { FileManifest } from '../cache/manifest';

/** A file on the network. Any range of it can be read, each checked to have this size and version. */
export interface RemoteFile {
  readonly size: number;
  /** The file's version, or '' if the server gives none. */
  readonly version: string;
  /** SHA-256 of the whole file in hex, if the server gives one. */
  readonly digest: string | null;
  /** The whole file arrived in one answer and is stored here. */
  readonly isWhole: boolean;
  /** The manifest of a file that arrived whole, if cached. */
  readonly file?: FileManifest;
  fetchRange(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}
