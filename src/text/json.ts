// Type checks for untrusted JSON and GGUF metadata, without `any`.

import { isJsonObject, type JsonObject } from '../shared/json_object';

export function asObject(value: unknown): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A token id from a number or bigint (GGUF integers may be either), or null for an invalid id. */
export function asId(value: unknown): number | null {
  const id = typeof value === 'bigint' ? Number(value) : value;
  return typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < MAX_VOCABULARY ? id : null;
}

/** Largest vocabulary. Real ones stay below 300,000 ids; the limit keeps a hostile id from sizing an array. */
export const MAX_VOCABULARY = 1 << 22;

/** The text of a special-token entry in tokenizer_config.json: a string, or an object with `content`. */
export function tokenContent(value: unknown): string | null {
  return asString(value) ?? asString(asObject(value)?.content);
}
