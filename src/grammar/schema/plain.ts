// A schema as plain JSON. A caller without types may pass anything: numbers that JSON has not, getters, parts that
// contain themselves.

import { ConstraintError } from '../../errors';
import { isJsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { MAX_TEXT } from '../limits';

const MAX_NESTING = 128;

/**
 * A copy of a schema.
 * @throws ConstraintError for what JSON cannot hold, and for a schema that is too long or too deep
 */
export function plainSchema(schema: unknown): unknown {
  try {
    checkSize(schema);
    return JSON.parse(JSON.stringify(schema) ?? 'null');
  } catch (error) {
    if (error instanceof ConstraintError) throw error;
    throw new ConstraintError('#', why`The schema is no JSON.`);
  }
}

/** Before anything else reads it, and before it is written: a part may occur many times. */
function checkSize(schema: unknown): void {
  let size = 0;
  const open: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    const inner = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
    const keys = isJsonObject(value) ? Object.keys(value) : [];
    size += typeof value === 'string' ? value.length + 2 : 2;
    size += keys.reduce((sum, key) => sum + key.length + 3, 0);
    if (size + 2 * inner.length > MAX_TEXT) {
      throw new ConstraintError('#', why`The schema is longer than ${MAX_TEXT} letters. Use a smaller one.`);
    }
    if (depth > MAX_NESTING) {
      throw new ConstraintError('#', why`The schema is nested deeper than ${MAX_NESTING} levels. Flatten it.`);
    }
    for (const one of inner) open.push({ value: one, depth: depth + 1 });
  }
}
