// `allOf` as one schema that has the keywords of all its parts.

import { ConstraintError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import type { Fuel } from '../limits';
import { isAnnotation, isNot, refuse, saysNothing } from './keywords';
import { resolve } from './reference';

/** The cost of a part, and of each property that it adds to those before. */
const WORK_PER_PART = 1000;
const WORK_PER_PROPERTY = 100;

/** Keywords that are about what another one does not name, in their own part alone. */
const REACH = [
  ['additionalProperties', 'properties'],
  ['items', 'prefixItems'],
  ['additionalItems', 'items'],
] as const;

/**
 * The schema that fits what all parts fit. What remains of one part is that part, so that a reference to it stays one.
 * @param root the whole schema, which references are about
 * @throws ConstraintError for parts that say different things of one keyword
 */
export function mergedSchema(schema: JsonObject, root: unknown, path: string, fuel: Fuel): unknown {
  const said = partsOf(schema, path);
  if (said.length < 2) return said[0] ?? true;
  const parts: JsonObject[] = [];
  for (const open = said.reverse(); open.length > 0; ) {
    const part = open.pop();
    fuel.spend(WORK_PER_PART);
    if (part === false) return false;
    if (!isJsonObject(part)) notSchemas(path);
    const { $ref, ...own } = part;
    if ('$ref' in part) open.push(own, resolve(root, $ref, path).schema);
    else if ('allOf' in part) open.push(...partsOf(part, path).reverse());
    else parts.push(part);
  }
  const merged = new Map<string, unknown>();
  for (const part of parts) {
    for (const [keyword, value] of Object.entries(part)) {
      merged.set(keyword, merged.has(keyword) ? both(keyword, merged.get(keyword), value, path, fuel) : value);
    }
    for (const [keyword, other] of REACH) {
      if (keyword in part && parts.some((one) => one !== part && other in one)) refuse(path, keyword, 'allOf');
    }
  }
  return Object.fromEntries(merged);
}

/** The parts that say something, and what is said beside them. */
function partsOf({ allOf, ...own }: JsonObject, path: string): unknown[] {
  if (!Array.isArray(allOf) || allOf.length === 0) notSchemas(path);
  return [...allOf, own].filter((part) => part !== true && !(isJsonObject(part) && saysNothing(part)));
}

function notSchemas(path: string): never {
  throw new ConstraintError(path, isNot('allOf', path, why`a list of schemas`), 'allOf');
}

/** What two parts say of one keyword, as one value. */
function both(keyword: string, one: unknown, other: unknown, path: string, fuel: Fuel): unknown {
  if (keyword === 'properties' && isJsonObject(one) && isJsonObject(other)) {
    const shared = Object.entries(other).map(([name, schema]) => {
      return [name, Object.hasOwn(one, name) ? { allOf: [one[name], schema] } : schema] as const;
    });
    fuel.spend(WORK_PER_PROPERTY * (shared.length + Object.keys(one).length));
    return { ...one, ...Object.fromEntries(shared) };
  }
  if (keyword === 'required') return [one, other].flat();
  return one === other || isAnnotation(keyword) ? one : refuse(path, keyword, 'allOf');
}
