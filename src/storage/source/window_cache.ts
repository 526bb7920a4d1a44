// Aligned windows over a file, with read-ahead.

/** Settled windows to keep. With the read-ahead in flight, one open file takes up to some 20 MiB. */
const KEEP = 3;
/** Windows to request ahead of sequential reads, so that the transfer hides the round trip. */
const READ_AHEAD = 2;

/** Files of a model that may hold windows at a time: a model of a hundred shards takes no more than one of six. */
const FILES = 6;

/** The files of one model that hold windows, the most recently read last. */
export class WindowPool {
  private readonly caches = new Set<WindowCache>();

  use(cache: WindowCache): void {
    this.caches.delete(cache);
    this.caches.add(cache);
    for (const oldest of this.caches) {
      if (this.caches.size <= FILES) return;
      this.caches.delete(oldest);
      oldest.clear();
    }
  }
}

interface Window {
  bytes: Promise<Uint8Array>;
  settled: boolean;
}

/**
 * Reads a file through aligned windows, so that many small reads share few requests and sequential reads stream. The
 * last windows are kept, a window in flight is shared by all its readers, and a failed one is dropped.
 */
export class WindowCache {
  private readonly size: number;
  private readonly windowBytes: number;
  private readonly fetch: (offset: number, length: number) => Promise<Uint8Array>;
  private readonly windows = new Map<number, Window>(); // least recently used first
  private lastIndex = -1;

  /** `size` is the file's. `fetch` returns exactly one window; the last window may be short. */
  constructor(
    size: number,
    windowBytes: number,
    fetch: (offset: number, length: number) => Promise<Uint8Array>,
    private readonly pool: WindowPool | null = null,
  ) {
    this.size = size;
    this.windowBytes = windowBytes;
    this.fetch = fetch;
  }

  /** Drops every settled window. */
  clear(): void {
    for (const [index, { settled }] of this.windows) if (settled) this.windows.delete(index);
  }

  /** A copy of `length` bytes from `offset`, a range that the caller has checked, in `into` or in new memory. */
  async read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    this.pool?.use(this);
    const out = into?.subarray(0, length) ?? new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const index = Math.floor((offset + done) / this.windowBytes);
      const window = this.window(index);
      if (index === this.lastIndex + 1 && index > 0) this.readAhead(index);
      this.lastIndex = index;
      const start = offset + done - index * this.windowBytes;
      const slice = (await window.bytes).subarray(start, start + length - done);
      out.set(slice, done);
      done += slice.length;
    }
    return out;
  }

  private readAhead(index: number): void {
    const last = Math.min(index + READ_AHEAD, Math.ceil(this.size / this.windowBytes) - 1);
    for (let ahead = index + 1; ahead <= last; ahead++) this.window(ahead);
  }

  private window(index: number): Window {
    const known = this.windows.get(index);
    if (known) {
      this.windows.delete(index); // reinserted at the end as most recently used
      this.windows.set(index, known);
      return known;
    }
    const offset = index * this.windowBytes;
    const window: Window = {
      bytes: this.fetch(offset, Math.min(this.windowBytes, this.size - offset)),
      settled: false,
    };
    this.windows.set(index, window);
    // The rejection also reaches every reader of the window. Without this handler a failed read-ahead would go
    // unhandled.
    window.bytes.then(
      () => {
        window.settled = true;
        this.trim();
      },
      () => this.windows.delete(index),
    );
    return window;
  }

  /** Drops the least recently used settled windows beyond KEEP. */
  private trim(): void {
    const settled = [...this.windows].filter(([, window]) => window.settled);
    for (const [index] of settled.slice(0, Math.max(0, settled.length - KEEP))) this.windows.delete(index);
  }
}
