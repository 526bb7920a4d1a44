// Limits that every untrusted file, range and name is checked against.

import { ModelFileError } from '../../errors';

/** Largest accepted JSON or text file, in bytes. The largest in use, tokenizer.json, stays below 40 MB. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Rejects an oversized JSON or text file before decoding. */
export function checkTextSize(file: string, size: number): void {
  if (size <= MAX_TEXT_BYTES) return;
  throw new ModelFileError(file, `has ${size} bytes or more; at most ${MAX_TEXT_BYTES} are accepted for such a file.`);
}

/** Rejects a read outside the file before any memory is allocated. */
export function checkRange(file: string, size: number, offset: number, length: number): void {
  const inside = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!inside || offset + length > size) {
    throw new ModelFileError(file, `cannot read ${length} bytes at ${offset}: there are ${size} bytes.`);
  }
}

/** An untrusted name for an error message: quoted, escaped, cut at 80 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
}

/** True for a file name that stays in its folder: no path, no address, no hidden file. */
export function isPlainName(name: string): boolean {
  return /^(?!\.)[^/\\:?#%\p{Cc}]{1,200}$/u.test(name);
}
