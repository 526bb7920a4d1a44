// The types of files and folders as byte ranges, and the options of opening them. Sources know URLs and dropped files.
// They must not know the contents: no tensor, no model, no GPU.

import type { ModelCache } from '../cache/cache';
import type { Hasher } from './whole_hash';
import type { WindowPool } from './window_cache';

/** Bytes of one file, readable at any offset. Nothing is read in advance of the first request. */
export interface ByteSource {
  /** The file's name, for people and error messages. */
  readonly name: string;
  /** Length of the file in bytes. */
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`, in memory that belongs to the caller: that of `into`, which is as long or
   * longer, or new memory.
   * @throws ModelFileError if the range lies outside the file or the file cannot be read any more
   * @throws ModelFetchError if the network or the server fails
   */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
}

/**
 * The kind of a file. Weights are read by ranges on request. Text is fetched whole, in one request that may travel
 * compressed, and rejected past 64 MB. JSON cannot begin with '<'.
 */
export type FileKind = 'weights' | 'json' | 'text';

/** Files that lie side by side. */
export interface ModelFolder {
  /** The folder's name, for people. */
  readonly name: string;
  /** Opens a file of this folder, or returns null if missing. Default `kind`: 'weights'. */
  open(path: string, kind?: FileKind): Promise<ByteSource | null>;
  /** The folder of that name in this one. */
  inner(name: string): ModelFolder;
}

/** URL of a folder, of a .gguf file or of a hub's repository; one dropped file; or the files of a dropped folder. */
export type ModelLocation = string | File | File[];

export interface OpenOptions {
  /** Ends every read. The pending call rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Receives the number of bytes just received from network or disk. Repeated requests count again. */
  onBytes?: (bytes: number, fromCache?: boolean) => void;
  /** The cache of this model's files. Default: none. */
  cache?: ModelCache | null;
  /** Mode of the browser's HTTP cache for files fetched whole. Ranges always bypass that cache. */
  httpCache?: RequestCache;
  /** Receives warnings for people about the opened model: `quantization-chosen`, `fetched-again`. */
  onWarning?: (warning: { code: string; message: string; facts?: Record<string, number | string> }) => void;
  /** Receives config.json before the weights are opened. Throwing cancels the opening. */
  onConfig?: (config: Record<string, unknown>) => void | Promise<void>;
  /** The hub whose repositories are resolved to commits and hashes. Default: huggingface.co. */
  hub?: string;
  /** Expected SHA-256 (hex) of the weights: of the named .gguf file, or of a folder's model.safetensors. */
  sha256?: string;
  /** Called once the weights match `sha256`. */
  onVerified?: () => void;
  /** Expected SHA-256 (hex) by URL. A file's bytes are checked once all of them have passed. */
  hashes?: ReadonlyMap<string, string>;
  /** Creates a hasher for a file of this size in bytes. Null or absent: this thread. Never rejects. */
  createHasher?: (size: number) => Promise<Hasher | null>;
  /** Shared by the files of one model, to bound their total memory. */
  windows?: WindowPool;
}
