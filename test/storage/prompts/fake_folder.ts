// A browser's private file system in memory, as far as prompts use it. It can die at any operation, as with its tab,
// lose or change bytes, and be full.

interface Stored {
  bytes: Uint8Array<ArrayBuffer>;
  lastModified: number;
  isLocked: boolean;
}

function named(name: string): DOMException {
  return new DOMException('', name);
}

export class FakeFolder {
  readonly files = new Map<string, Stored>();
  /** Milliseconds since 1970. */
  time = 0;
  operations = 0;
  /** The operation from which on nothing happens any more. A write there is half done. */
  diesAt = Number.POSITIVE_INFINITY;
  /** Bytes that fit. */
  room = Number.POSITIVE_INFINITY;

  get root(): FileSystemDirectoryHandle {
    const folder = {
      getFileHandle: async (name: string, { create = false } = {}) => this.handle(name, create),
      removeEntry: async (name: string) => {
        if (!this.steps()) throw named('AbortError');
        if (this.files.get(name)?.isLocked) throw named('NoModificationAllowedError');
        if (!this.files.delete(name)) throw named('NotFoundError');
      },
      values: () => this.handles(),
    };
    return { getDirectoryHandle: async () => folder } as unknown as FileSystemDirectoryHandle;
  }

  get bytes(): number {
    return [...this.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** A new tab: its predecessor's locks are gone. */
  revive(): void {
    this.diesAt = Number.POSITIVE_INFINITY;
    for (const file of this.files.values()) file.isLocked = false;
  }

  /** False once the tab is dead. */
  private steps(): boolean {
    return ++this.operations < this.diesAt;
  }

  private async *handles() {
    for (const name of [...this.files.keys()]) yield this.handle(name, false);
  }

  private handle(name: string, create: boolean) {
    if (!this.steps()) throw named('AbortError');
    if (!this.files.has(name)) {
      if (!create) throw named('NotFoundError');
      this.files.set(name, { bytes: new Uint8Array(), lastModified: this.time, isLocked: false });
    }
    const file = () => this.files.get(name) ?? fail();
    return {
      kind: 'file',
      name,
      getFile: async () => {
        const { bytes, lastModified } = file();
        return { size: bytes.length, lastModified, arrayBuffer: async () => bytes.slice().buffer };
      },
      createSyncAccessHandle: async () => this.access(file()),
    };
  }

  private access(file: Stored) {
    if (!this.steps()) throw named('AbortError');
    if (file.isLocked) throw named('NoModificationAllowedError');
    file.isLocked = true;
    const resize = (size: number) => {
      const bytes = new Uint8Array(size);
      bytes.set(file.bytes.subarray(0, size));
      file.bytes = bytes;
    };
    return {
      read: (into: Uint8Array, { at }: { at: number }) => {
        const read = file.bytes.subarray(at, at + into.length);
        into.set(read);
        return read.length;
      },
      write: (given: Uint8Array, { at }: { at: number }) => {
        if (this.operations >= this.diesAt) throw named('AbortError');
        const isLast = !this.steps();
        const rest = Math.max(0, this.room - this.bytes + Math.max(0, file.bytes.length - at));
        const part = given.subarray(0, isLast ? given.length / 2 : rest);
        if (at + part.length > file.bytes.length) resize(at + part.length);
        file.bytes.set(part, at);
        file.lastModified = this.time;
        if (isLast) throw named('AbortError');
        return part.length;
      },
      truncate: (size: number) => {
        if (!this.steps()) throw named('AbortError');
        resize(size);
      },
      close: () => {
        if (this.steps()) file.isLocked = false;
      },
    };
  }
}

function fail(): never {
  throw named('NotFoundError');
}
