import { ModelFileError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { quoted } from './bounds';

/** Levels of nesting that any JSON file of a model may have; real ones stay below ten. */
const MAX_DEPTH = 64;
/** Keys in a file whose keys must be unique, so that checking them takes below a second; a tensor takes four. */
const MAX_UNIQUE_KEYS = 512 * 1024;
/**
 * What a text and the values in it may take in memory, by the costs below; the largest vocabulary in use (Gemma 3: 33 MB,
 * 262,144 tokens and 514,906 pairs) comes to some 175 MB. Without it 64 MB of `[],` become a gigabyte of empty lists.
 */
const MAX_MEMORY = 192 * 1024 * 1024;
/** Bytes of the heap of a 64-bit engine, about: a list or an object, a key with its place, any further value. */
const COST = { open: 64, key: 128, comma: 32 } as const;

/** Text from UTF-8 bytes; a byte order mark stays, and malformed bytes are an error. */
export function decodeUtf8(file: string, what: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ModelFileError(file, `${what} is not valid UTF-8. The file is damaged; fetch it again.`);
  }
}

/**
 * The object in a JSON text. Untrusted names in it must go into a Map, never index a plain object.
 * @throws ModelFileError when it does not parse, is no object, nests too deep, or (with `uniqueKeys`) repeats a key
 */
export function parseJsonObject(file: string, text: string, options: { uniqueKeys?: boolean } = {}): JsonObject {
  scan(file, text, options.uniqueKeys ?? false);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelFileError(
      file,
      `is not valid JSON (${error instanceof Error ? error.message : error}). Fetch it again.`,
    );
  }
  if (!isJsonObject(value)) throw new ModelFileError(file, 'holds JSON, but not an object.');
  return value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Bounds the nesting and the number of values, so that JSON.parse cannot exhaust memory, and finds repeated keys, of which
 * JSON.parse silently keeps the last. Syntax is left to JSON.parse: this is right on valid JSON and harmless on the rest.
 */
function scan(file: string, text: string, uniqueKeys: boolean): void {
  const open: (Keys | null)[] = []; // null for an array
  const charBytes = /[^\0-\xff]/.test(text) ? 2 : 1; // an engine keeps all characters of a text in one width
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

/** What parsing a text would take, summed up before it is parsed. */
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

/** The keys of one object. Most objects of most files are never asked: the set is made for the first key. */
class Keys {
  private known: Set<string> | null = null;

  add(file: string, key: string): void {
    this.known ??= new Set();
    if (this.known.has(key)) throw new ModelFileError(file, `key ${quoted(key)} appears twice in one object.`);
    this.known.add(key);
  }
}

/** Index of the quote that closes the string opened at `start`, or the text's length. */
function stringEnd(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) return i;
    i += c === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

/** A string literal's value, so that "a" and "\u0061" count as one key. */
function keyOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal; // JSON.parse of the whole text will say what is wrong
  }
}
