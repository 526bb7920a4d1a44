// A buffered reader of GGUF headers.

import { ModelFileError } from '../../errors';
import { quoted } from '../checks/bounds';
import type { ByteSource } from '../source/byte_source';

const CHUNK_BYTES = 1024 * 1024;
/** Largest accepted header. The largest vocabulary in use (Gemma 3) needs some 20 MB. */
const MAX_HEADER_BYTES = 64 * 1024 * 1024;
const MAX_STRING_BYTES = 16 * 1024 * 1024;

/**
 * Reads a little-endian header front to back, in chunks. `ensure(n)` makes n bytes available; the getters then take
 * them synchronously, so that a vocabulary of 150,000 strings is parsed without a promise per string.
 */
export class GgufReader {
  readonly file: string;
  private readonly source: ByteSource;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  private chunk = new Uint8Array(0);
  private view = new DataView(this.chunk.buffer);
  private chunkStart = 0; // position of chunk[0] in the file
  private at = 0; // next byte, as an index into chunk

  constructor(source: ByteSource) {
    this.source = source;
    this.file = source.name;
  }

  /** Bytes read so far. */
  get position(): number {
    return this.chunkStart + this.at;
  }

  /** Unread bytes of the file. */
  get bytesLeft(): number {
    return this.source.size - this.position;
  }

  /** True if n bytes can be taken without waiting. */
  has(n: number): boolean {
    return this.at + n <= this.chunk.length;
  }

  /**
   * Makes the next n bytes available. `what` names them in the error.
   * @throws ModelFileError if the file, or the 64 MB limit of a header, ends first
   */
  async ensure(n: number, what: string): Promise<void> {
    if (this.has(n)) return;
    const { position } = this;
    this.checkSpace(n, what);
    const rest = this.chunk.subarray(this.at);
    const fresh = Math.min(Math.max(n - rest.length, CHUNK_BYTES), this.bytesLeft - rest.length);
    const bytes = await this.source.read(position + rest.length, fresh);
    const chunk = new Uint8Array(rest.length + fresh);
    chunk.set(rest);
    chunk.set(bytes, rest.length);
    this.chunk = chunk;
    this.view = new DataView(chunk.buffer);
    this.chunkStart = position;
    this.at = 0;
  }

  /** Calls a getter of `DataView` and advances by its width. Call `ensure` first. */
  take<T>(bytes: number, get: (view: DataView, at: number) => T): T {
    const value = get(this.view, this.at);
    this.at += bytes;
    return value;
  }

  u32(): number {
    return this.take(4, (view, at) => view.getUint32(at, true));
  }

  /** A u64 count or offset. @throws ModelFileError past 2^53 */
  u64(what: string): number {
    const low = this.view.getUint32(this.at, true);
    const high = this.view.getUint32(this.at + 4, true);
    const value = high * 2 ** 32 + low;
    if (high >= 2 ** 21) throw this.error(`${what} is ${this.view.getBigUint64(this.at, true)}, past 2^53`);
    this.at += 8;
    return value;
  }

  /** n bytes in a buffer of their own, copied chunk by chunk, so that no chunk grows to n bytes. Throws as `ensure`. */
  async bytes(n: number, what: string): Promise<Uint8Array<ArrayBuffer>> {
    this.checkSpace(n, what);
    const copy = new Uint8Array(n);
    for (let done = 0; done < n; ) {
      const part = Math.min(CHUNK_BYTES, n - done);
      await this.ensure(part, what);
      copy.set(this.chunk.subarray(this.at, this.at + part), done);
      this.at += part;
      done += part;
    }
    return copy;
  }

  /** A string: u64 length, then UTF-8. Waits only at the end of a chunk. @throws ModelFileError naming `what` */
  async string(what: string, maxBytes = MAX_STRING_BYTES): Promise<string> {
    if (!this.has(8)) await this.ensure(8, what);
    const length = this.stringLength(what, maxBytes);
    if (!this.has(length)) await this.ensure(length, what);
    return this.utf8(length, what);
  }

  /** `count` strings. A malformed string is an error, since a replaced character would make a wrong vocabulary. */
  async strings(count: number, what: string): Promise<string[]> {
    const strings: string[] = [];
    for (let i = 0; i < count; i++) {
      if (!this.has(8)) await this.ensure(8, what);
      const length = this.stringLength(what, MAX_STRING_BYTES);
      if (!this.has(length)) await this.ensure(length, what);
      strings.push(this.utf8(length, what));
    }
    return strings;
  }

  error(message: string): ModelFileError {
    return new ModelFileError(
      this.file,
      `${message} (at byte ${this.position} of ${this.source.size}). Fetch it again.`,
    );
  }

  private checkSpace(n: number, what: string): void {
    if (n > this.bytesLeft) throw this.error(`is truncated: ${what} needs ${n} bytes, ${this.bytesLeft} are left`);
    if (this.position + n > MAX_HEADER_BYTES) throw this.error(`its header passes ${MAX_HEADER_BYTES} bytes`);
  }

  private stringLength(what: string, maxBytes: number): number {
    const length = this.u64(`the length of ${what}`);
    if (length > maxBytes) throw this.error(`${what} is ${length} bytes long; at most ${maxBytes} are accepted`);
    if (length > this.bytesLeft) {
      throw this.error(`is truncated: ${what} is ${length} bytes long, ${this.bytesLeft} are left`);
    }
    return length;
  }

  private utf8(length: number, what: string): string {
    if (length === 0) return '';
    const bytes = this.chunk.subarray(this.at, this.at + length);
    try {
      const text = this.decoder.decode(bytes);
      this.at += length;
      return text;
    } catch {
      throw this.error(`${what} is not valid UTF-8`);
    }
  }
}

/** An untrusted key for an error message. */
export function keyName(key: string): string {
  return `key ${quoted(key)}`;
}
