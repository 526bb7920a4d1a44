import type { FileManifest } from '../cache/manifest';

/** What the network gives of a file: any part of it, each checked to be of this size and version. */
export interface Remote {
  readonly size: number;
  /** What names the version, or '' where the server does not say. */
  readonly version: string;
  /** SHA-256 of the whole file in hex, where the server tells it. */
  readonly digest: string | null;
  /** The file came in one piece, and is here. */
  readonly isWhole: boolean;
  /** Of a file that came whole: what is kept of it, where it is to be kept. */
  readonly file?: FileManifest;
  part(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}
