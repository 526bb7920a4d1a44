// Strict JSON for untrusted model files: bounded nesting and memory, no repeated keys.

import { ModelFileError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { quoted } from './bounds';

/** Deepest accepted nesting of JSON. Real model files stay below ten levels. */
const MAX_DEPTH = 64;
/** Most keys in a file with unique keys, so that the check stays below a second. A tensor takes four keys. */
const MAX_UNIQUE_KEYS = 512 * 1024;
/**
 * Largest memory that a text and its parsed values may take, estimated with the costs below. The largest vocabulary in
 * use (Gemma 3: 33 MB, 262,144 tokens and 514,906 pairs) needs some 175 MB. Without the limit, 64 MB of `[],` would
 * become a gigabyte of empty lists.
 */
const MAX_MEMORY = 192 * 1024 * 1024;
/** Approximate heap bytes in a 64-bit engine: a list or object, a key with its slot, any further value. */
const COST = { open: 64, key: 128, comma: 32 } as const;

/** Decodes UTF-8. A byte order mark stays; malformed bytes are an error. */
export function decodeUtf8(file: string, what: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ModelFileError(file, `${what} is not valid UTF-8. The file is damaged; fetch it again.`);
  }
}

/**
 * Parses a JSON text into an object. Untrusted keys must go into a Map and never index a plain object.
 * @throws ModelFileError for invalid JSON, another value than an object, deep nesting, or (with `uniqueKeys`) a
 * repeated key
 */
export function parseJsonObject(file: string, text: string, options: { uniqueKeys?: boolean } = {}): JsonObject {
  const value = parse(file, text, options.uniqueKeys ?? false);
  if (!isJsonObject(value)) throw new ModelFileError(file, 'holds JSON, but not an object.');
  return value;
}

/** Parses a JSON text into a list. @throws as parseJsonObject */
export function parseJsonList(file: string, text: string): readonly unknown[] {
  const value = parse(file, text, false);
  if (!Array.isArray(value)) throw new ModelFileError(file, 'holds JSON, but not a list.');
  return value;
}

function parse(file: string, text: string, uniqueKeys: boolean): unknown {
  scan(file, text, uniqueKeys);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ModelFileError(
      file,
      `is not valid JSON (${error instanceof Error ? error.message : error}). Fetch it again.`,
    );
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Bounds the nesting and the number of values, so that JSON.parse cannot exhaust memory, and finds repeated keys, of
 * which JSON.parse silently keeps the last. Syntax errors are left to JSON.parse: on invalid JSON this scan is
 * harmless.
 */
function scan(file: string, text: string, uniqueKeys: boolean): void {
  const open: (Keys | null)[] = []; // null stands for an array
  const charBytes = /[^\0-\xff]/.test(text) ? 2 : 1; // engines store a string in one character width
  const memory = new Memory(file, charBytes * text.length);
  let keyNext = false;
  let nKeys = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const end = stringEnd(text, i);
      const keys = open.at(-1);
      if (keyNext && keys) {
        if (uniqueKeys && ++nKeys > MAX_UNIQUE_KEYS) {
          throw new ModelFileError(file, `has more than ${MAX_UNIQUE_KEYS} keys.`);
        }
        if (uniqueKeys) keys.add(file, keyOf(text.slice(i, end + 1)));
        memory.take(COST.key);
      }
      memory.take(charBytes * (end - i));
      keyNext = false;
      i = end;
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (open.length === MAX_DEPTH) throw new ModelFileError(file, `nests deeper than ${MAX_DEPTH} levels.`);
      open.push(c === OPEN_BRACE ? new Keys() : null);
      keyNext = c === OPEN_BRACE;
      memory.take(COST.open);
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      open.pop();
      keyNext = false;
    } else if (c === COMMA) {
      keyNext = open.length > 0 && open.at(-1) !== null;
      memory.take(COST.comma);
    }
  }
}

/** The estimated memory of a parse, summed before parsing. */
class Memory {
  constructor(
    private readonly file: string,
    private bytes: number,
  ) {}

  take(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes <= MAX_MEMORY) return;
    throw new ModelFileError(
      this.file,
      `would take more than ${MAX_MEMORY} bytes of memory. No model needs such a file.`,
    );
  }
}

/** The keys of one object. The set is created with the first key, since most objects are never checked. */
class Keys {
  private known: Set<string> | null = null;

  add(file: string, key: string): void {
    this.known ??= new Set();
    if (this.known.has(key)) throw new ModelFileError(file, `key ${quoted(key)} appears twice in one object.`);
    this.known.add(key);
  }
}

/** Index of the closing quote of the string that opens at `start`, or the text's length. */
function stringEnd(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) return i;
    i += c === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

/** The value of a string literal, so that "a" and "\u0061" count as one key. */
function keyOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal; // the later JSON.parse of the whole text reports the error
  }
}
