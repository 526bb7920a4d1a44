// The folder of prompts in the browser's private file system. A file may be cut at any moment: its name and its hash
// tell. Written in slices, so that a request in between waits for one of them at most.

import { withTimeout } from '../../shared/with_timeout';
import { PROMPT_FOLDER } from './has_prompts';

/** Bytes that this thread writes at a time. */
const SLICE_BYTES = 2 ** 18;
/** Most files that are looked at. More are not of this program. */
const MOST_FILES = 2 ** 14;

export interface PromptFile {
  name: string;
  bytes: number;
  /** Milliseconds since 1970. */
  usedAt: number;
}

export interface PromptFiles {
  list(): Promise<PromptFile[]>;
  /** Null where there is none. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** False where `goesOn` turned false before the end: nothing is left. @throws the browser's errors */
  write(name: string, bytes: Uint8Array<ArrayBuffer>, goesOn: () => boolean): Promise<boolean>;
  /** Makes now the time of the last use. */
  touch(name: string): Promise<void>;
  /** Never throws: another tab may hold the file. */
  remove(name: string): Promise<void>;
}

/** Members missing from the DOM types: those of dedicated workers. */
interface SyncHandle {
  read(bytes: Uint8Array, at: { at: number }): number;
  write(bytes: Uint8Array, at: { at: number }): number;
  truncate(size: number): void;
  close(): void;
}

interface FileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<SyncHandle>;
}

/** Bytes that all prompts of this site take. 0 where the browser has no such storage. */
export async function promptBytes(): Promise<number> {
  const list = async () => (await openPromptFiles()).list();
  const files = await withTimeout(list).catch(() => []);
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Deletes the prompts of this site. @throws LateError, and the browser's error for one that a tab is writing */
export async function deleteAllPrompts(): Promise<void> {
  const remove = async () => (await navigator.storage.getDirectory()).removeEntry(PROMPT_FOLDER, { recursive: true });
  await withTimeout(remove).catch(absent);
}

/** Null for an error about what is not there. @throws any other error */
function absent(error: unknown): null {
  if (error instanceof Error && error.name === 'NotFoundError') return null;
  throw error;
}

/** Opens the folder. @throws without such storage: insecure pages, private windows, frames of other sites */
export async function openPromptFiles(root?: FileSystemDirectoryHandle): Promise<PromptFiles> {
  if (!globalThis.crypto?.subtle) throw new Error('This page is not secure: use HTTPS.');
  const parent = root ?? (await navigator.storage.getDirectory());
  return new Folder(await parent.getDirectoryHandle(PROMPT_FOLDER, { create: true }));
}

class Folder implements PromptFiles {
  constructor(private readonly folder: FileSystemDirectoryHandle) {}

  async list(): Promise<PromptFile[]> {
    const handles: FileSystemHandle[] = [];
    for await (const handle of this.folder.values()) if (handles.push(handle) === MOST_FILES) break;
    const files = await Promise.all(
      handles.map(async (handle) => {
        const file = handle.kind === 'file' && (await (handle as FileSystemFileHandle).getFile().catch(() => null));
        return file ? [{ name: handle.name, bytes: file.size, usedAt: file.lastModified }] : [];
      }),
    );
    return files.flat();
  }

  async read(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const file = await (await this.folder.getFileHandle(name)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      return absent(error);
    }
  }

  async write(name: string, bytes: Uint8Array<ArrayBuffer>, goesOn: () => boolean): Promise<boolean> {
    const handle = await this.open(name, true);
    let isWhole = false;
    try {
      handle.truncate(0);
      let at = 0;
      while (at < bytes.length && goesOn()) {
        const slice = bytes.subarray(at, at + SLICE_BYTES);
        // A full disk may accept a part without an error.
        if (handle.write(slice, { at }) !== slice.length) throw new DOMException('No room.', 'QuotaExceededError');
        at += slice.length;
        if (at < bytes.length) await new Promise((resolve) => setTimeout(resolve));
      }
      isWhole = at === bytes.length;
    } finally {
      handle.close();
      if (!isWhole) await this.remove(name);
    }
    return isWhole;
  }

  async touch(name: string): Promise<void> {
    const handle = await this.open(name, false);
    try {
      const byte = new Uint8Array(1);
      if (handle.read(byte, { at: 0 }) === 1) handle.write(byte, { at: 0 });
    } finally {
      handle.close();
    }
  }

  async remove(name: string): Promise<void> {
    await this.folder.removeEntry(name).catch(() => {});
  }

  private async open(name: string, create: boolean): Promise<SyncHandle> {
    const handle = (await this.folder.getFileHandle(name, { create })) as FileHandle;
    return handle.createSyncAccessHandle();
  }
}
