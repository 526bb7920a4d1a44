// A schema as plain JSON. A caller without types may pass anything: numbers that JSON has not, getters, parts that
// contain themselves.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import { MAX_TEXT } from '../limits';

const MAX_NESTING = 128;

/**
 * A copy of a schema.
 * @throws ConstraintError for what JSON cannot hold, and for a schema that is too long or too deep
 */
export function plainSchema(schema: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(schema, bounded()) ?? 'null');
  } catch (error) {
    if (error instanceof ConstraintError) throw error;
    throw new ConstraintError('#', why`The schema is no JSON.`);
  }
}

/** A replacer that counts letters and levels while a schema is written: a part may occur many times. */
function bounded(): (this: unknown, key: string, value: unknown) => unknown {
  let size = 0;
  const depths = new Map<unknown, number>();
  return function (key, value) {
    const depth = (depths.get(this) ?? -1) + 1;
    depths.set(value, depth);
    size += (typeof value === 'string' ? value.length : 0) + (Array.isArray(this) ? 2 : key.length + 5);
    if (size > MAX_TEXT) {
      throw new ConstraintError('#', why`The schema is longer than ${MAX_TEXT} letters. Use a smaller one.`);
    }
    if (depth > MAX_NESTING) {
      throw new ConstraintError('#', why`The schema is nested deeper than ${MAX_NESTING} levels. Flatten it.`);
    }
    return value;
  };
}
