// Untrusted JSON as a type that can be asked for keys. Without `any`.

export type JsonObject = Record<string, unknown>;

/** True for an object with keys; false for null and arrays. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
