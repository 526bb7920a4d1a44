// Storage: where bytes come from (URLs, dropped files) and the strict parsers of what they hold.
// It must not know the GPU, the tokenizer or the model: it hands out names, shapes and bytes, and checks every number first.

import type { ModelCache } from '../cache/cache';
import type { Hasher } from './whole_hash';
import type { WindowPool } from './window_cache';

/** Bytes of one file, readable at any offset. Nothing is read before it is asked for. */
export interface ByteSource {
  /** The file's name, for people and error messages. */
  readonly name: string;
  /** Length of the file in bytes. */
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`, in memory that belongs to the caller.
   * @throws ModelFileError when the range lies outside the file or the file cannot be read any more
   * @throws ModelFetchError when the network or the server fails
   */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/**
 * What a file of a folder holds. Weights are read in parts as they are asked for; text is fetched whole, in one request
 * that may travel compressed, and refused past 64 MB; JSON moreover cannot begin with '<'.
 */
export type FileKind = 'weights' | 'json' | 'text';

/** Files that lie side by side. */
export interface ModelFolder {
  /** The folder's name, for people. */
  readonly name: string;
  /** The file `path` of this folder, or null where there is none. `kind` is 'weights' unless given. */
  open(path: string, kind?: FileKind): Promise<ByteSource | null>;
}

/** URL of a folder, of a .gguf file or of a hub's repository; one dropped file; or the files of a dropped folder. */
export type ModelLocation = string | File | File[];

export interface OpenOptions {
  /** Ends every read; the pending call rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the number of bytes newly received from network or disk. A repeated request counts again. */
  onBytes?: (bytes: number, fromCache?: boolean) => void;
  /** Where the files of this model's URL are kept and found again. Default: nowhere. */
  cache?: ModelCache | null;
  /** How far the browser's HTTP cache may answer for files that are fetched whole; parts never come from it. */
  httpCache?: RequestCache;
  /** Told of what a person should know of the model that was opened: `quantization-chosen`, `fetched-again`. */
  onWarning?: (warning: { code: string; message: string }) => void;
  /** Given config.json before the weights that it describes are opened; what it throws is why they are not. */
  onConfig?: (config: Record<string, unknown>) => void;
  /** The hub whose repositories are asked for their commit and hashes. Default: huggingface.co. */
  hub?: string;
  /** SHA-256 in hex that the weights should have: of the .gguf file that is named, or of a folder's model.safetensors. */
  sha256?: string;
  /** The weights were found to have `sha256`. */
  onVerified?: () => void;
  /** SHA-256 by URL, in hex, of files that have one: bytes that passed wholly are checked against it. */
  hashes?: ReadonlyMap<string, string>;
  /** What hashes a file of so many bytes; null, or without it: this thread. Never rejects. */
  createHasher?: (size: number) => Promise<Hasher | null>;
  /** Shared by the files of one model: bounds the memory of all of them. */
  windows?: WindowPool;
}
