// JSON from a server: bounded in depth before it is parsed, and read field by field without trust.

import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { RemoteError } from '../remote_error';

/** Most arrays and objects inside one another. */
const MAX_DEPTH = 64;
/** Most letters of a server's text in a message. */
const MAX_QUOTED = 300;

/** @throws RemoteError for what is no JSON object, or too deep */
export function parseObject(text: string): JsonObject {
  if (isTooDeep(text)) throw malformed(`nests more than ${MAX_DEPTH} levels of JSON`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  if (!isJsonObject(value)) throw malformed('sent something that is no JSON object');
  return value;
}

export function malformed(what: string): RemoteError {
  return new RemoteError(
    'server-answer',
    `The server ${what}. Check that the address is that of an OpenAI-compatible interface; most end with /v1.`,
  );
}

/** Counts brackets outside of strings, so that no parser recurses on what a server sent. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    if (letter === 0x22) i = endOfString(text, i);
    else if (letter === 0x5b || letter === 0x7b) depth++;
    else if (letter === 0x5d || letter === 0x7d) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** The place of the quote that ends the string that begins at `start`, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    if (letter === 0x5c) i++;
    else if (letter === 0x22) return i;
  }
  return text.length;
}

/** A field that is an object, or an empty one. */
export function objectIn(object: JsonObject, key: string): JsonObject {
  const value = own(object, key);
  return isJsonObject(value) ? value : {};
}

/** The objects of a field that is a list; never more than `most`. */
export function objectsIn(object: JsonObject, key: string, most: number): JsonObject[] {
  const value = own(object, key);
  return Array.isArray(value) ? value.slice(0, most).filter(isJsonObject) : [];
}

/** A field that is a text, or ''. */
export function textIn(object: JsonObject, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = own(object, key);
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}

/** A field that is a number from 0 to `most`, or null. */
export function numberIn(object: JsonObject, key: string, most = 1e12): number | null {
  const value = own(object, key);
  return typeof value === 'number' && value >= 0 && value <= most ? value : null;
}

/** A field that is a whole number from 0 to `most`, or null. */
export function countIn(object: JsonObject, key: string, most = 1e9): number | null {
  const value = numberIn(object, key, most);
  return value !== null && Number.isInteger(value) ? value : null;
}

/** The sentence of an error in OpenAI's shape, or in those of other servers, on one line; '' without one. */
export function errorText(body: JsonObject): string {
  const { error } = body;
  const found =
    textIn(isJsonObject(error) ? error : body, 'message', 'detail', 'error', 'object') || textIn(body, 'error');
  const line = found.replace(/\s+/g, ' ').trim();
  if (line.length <= MAX_QUOTED) return line;
  return line.slice(0, MAX_QUOTED - 1).replace(/[!-~]*$/, '…'); // half a key would not be known as one
}

function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
