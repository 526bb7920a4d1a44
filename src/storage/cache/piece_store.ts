// Pieces of files in the browser's private file system (OPFS), named by the SHA-256 of their bytes.

/** Bytes by name. A piece is stored wholly or not at all; readers check its content. */
export interface PieceStore {
  /** The piece's bytes, or null if missing. @throws any other error of the browser's storage */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** @throws DOMException QuotaExceededError, and any other error of the browser's storage */
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Removes a piece. Never throws: a later sweep finds a piece that another tab still holds. */
  remove(name: string): Promise<void>;
  /** All names, including leftovers of interrupted writes, with the time of the last write (ms since 1970). */
  list(): Promise<{ name: string; writtenAt: number }[]>;
}

/** The name of a piece: the SHA-256 of its bytes in hex. */
export async function pieceName(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

export function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** True for the error of full storage. */
export function isQuotaError(error: unknown): boolean {
  return error instanceof Error && error.name === 'QuotaExceededError';
}

/** Members missing from the DOM types. Only workers have sync handles; not every browser can rename. */
interface FileHandle extends Omit<FileSystemFileHandle, 'createWritable' | 'move'> {
  createSyncAccessHandle?(): Promise<{
    write(bytes: Uint8Array, at: { at: number }): number;
    flush(): void;
    close(): void;
  }>;
  createWritable?(): Promise<{ write(bytes: Uint8Array<ArrayBuffer>): Promise<void>; close(): Promise<void> }>;
  move?(name: string): Promise<void>;
}

const FOLDER = 'vivace-pieces';

/** Opens the folder of pieces. @throws without such storage: insecure pages, private windows, frames of other sites */
export async function opfsPieces(): Promise<PieceStore> {
  const root = await navigator.storage.getDirectory();
  return new OpfsPieces(await root.getDirectoryHandle(FOLDER, { create: true }));
}

class OpfsPieces implements PieceStore {
  constructor(private readonly folder: FileSystemDirectoryHandle) {}

  async read(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const file = await (await this.folder.getFileHandle(name)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      if (error instanceof Error && error.name === 'NotFoundError') return null; // deleted, perhaps by another tab
      throw error;
    }
  }

  async write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if ((await this.sizeOf(name)) === bytes.length) return; // the same piece of another file, or from another tab
    // Two tabs may write the same piece, so each writes a temporary file first.
    const temporary = `${name}.${crypto.randomUUID()}`;
    const handle = (await this.folder.getFileHandle(temporary, { create: true })) as FileHandle;
    try {
      if (handle.move) {
        await fill(handle, bytes);
        await handle.move(name);
        return;
      }
      await fill((await this.folder.getFileHandle(name, { create: true })) as FileHandle, bytes);
    } catch (error) {
      await this.remove(temporary);
      throw error;
    }
    await this.remove(temporary);
  }

  async remove(name: string): Promise<void> {
    try {
      await this.folder.removeEntry(name);
    } catch {
      // held by another tab, or missing
    }
  }

  async list(): Promise<{ name: string; writtenAt: number }[]> {
    const found: { name: string; writtenAt: number }[] = [];
    for await (const [name, handle] of this.folder.entries()) {
      const file = await (handle as FileSystemFileHandle).getFile().catch(() => null);
      found.push({ name, writtenAt: file?.lastModified ?? Date.now() });
    }
    return found;
  }

  private async sizeOf(name: string): Promise<number | null> {
    try {
      return (await (await this.folder.getFileHandle(name)).getFile()).size;
    } catch {
      return null;
    }
  }
}

async function fill(handle: FileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (!handle.createSyncAccessHandle) {
    const writable = await handle.createWritable?.();
    await writable?.write(bytes);
    await writable?.close();
    return;
  }
  const access = await handle.createSyncAccessHandle();
  try {
    const written = access.write(bytes, { at: 0 });
    // A full disk may accept a part without an error.
    if (written !== bytes.length) throw new DOMException(`${written} bytes were written.`, 'QuotaExceededError');
    access.flush();
  } finally {
    access.close();
  }
}
