import { ModelFileError } from '../../errors';

/** The most that a JSON or text file of a model may take: tokenizer.json, the largest, stays below 40 MB. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Refuses a JSON or text file by its size, before it is decoded. */
export function checkTextSize(file: string, size: number): void {
  if (size <= MAX_TEXT_BYTES) return;
  throw new ModelFileError(file, `has ${size} bytes or more; at most ${MAX_TEXT_BYTES} are accepted for such a file.`);
}

/** Refuses a read that is not wholly inside the file, before anything is allocated for it. */
export function checkRange(file: string, size: number, offset: number, length: number): void {
  const inside = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!inside || offset + length > size) {
    throw new ModelFileError(file, `cannot read ${length} bytes at ${offset}: there are ${size} bytes.`);
  }
}

/** An untrusted name as it may stand in a message: quoted, escaped, cut at 80 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
}

/** Whether an untrusted file name stays in its folder: no path, no address, no hidden file. */
export function isPlainName(name: string): boolean {
  return /^(?!\.)[^/\\:?#%\p{Cc}]{1,200}$/u.test(name);
}
