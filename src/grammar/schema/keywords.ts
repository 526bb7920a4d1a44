// The keywords of a schema: which ones are enforced, which ones say nothing about the document, and their types.

import { ConstraintError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { type Reason, why } from '../../shared/why';
import { shown } from '../shown';

/** The place of a subschema. */
export interface Place {
  /** A JSON pointer, from `#`. */
  readonly path: string;
  /** Subschemas around it. */
  readonly depth: number;
}

/** Say nothing about the document. */
const ANNOTATIONS = new Set([
  '$comment',
  '$defs',
  '$schema',
  'contentEncoding',
  'contentMediaType',
  'default',
  'definitions',
  'deprecated',
  'description',
  // Of OpenAPI, beside a oneOf that says the same.
  'discriminator',
  'examples',
  'readOnly',
  'title',
  'writeOnly',
]);

const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

/** The keywords of each type. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'propertyNames'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  integer: OF_NUMBERS,
  number: OF_NUMBERS,
  boolean: [],
  null: [],
};
const ALL_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'];

export const isAnnotation = (keyword: string): boolean => ANNOTATIONS.has(keyword);

/** Whether a schema fits every value. */
export function saysNothing(schema: JsonObject): boolean {
  return Object.keys(schema).every(isAnnotation);
}

/**
 * The types of a schema. Without `type`, those that its keywords are about; without such keywords, or where the schema
 * is read as open, all.
 */
export function typesOf(schema: JsonObject, path: string, isOpen: boolean): readonly string[] {
  const keywords = Object.keys(schema).filter((keyword) => keyword !== 'type' && !ANNOTATIONS.has(keyword));
  const isId = (keyword: string) => keyword === '$id' && path === '#';
  for (const keyword of keywords) {
    const isKnown = isId(keyword) || Object.values(OF_TYPE).some((known) => known.includes(keyword));
    const isValues = 'type' in schema && (keyword === 'const' || keyword === 'enum');
    if (!isKnown && !isValues) refuse(path, keyword);
  }
  if (!('type' in schema)) {
    const about = ALL_TYPES.filter((type) => keywords.some((keyword) => OF_TYPE[type].includes(keyword)));
    return about.length > 0 && !isOpen ? about : ALL_TYPES;
  }
  const types: unknown[] = [schema.type].flat();
  const names = types.filter((type): type is string => typeof type === 'string' && Object.hasOwn(OF_TYPE, type));
  if (types.length === 0 || names.length < types.length) {
    throw new ConstraintError(path, isNot('type', path, why`one of ${Object.keys(OF_TYPE).join(', ')}`), 'type');
  }
  return names.includes('number') ? names.filter((type) => type !== 'integer') : [...new Set(names)];
}

/** Refuses what stands beside a keyword and is neither an annotation nor allowed there. */
export function refuseBeside(schema: JsonObject, path: string, keyword: string, allowed: readonly string[]): void {
  for (const other of Object.keys(schema)) {
    const isHarmless = other === keyword || allowed.includes(other) || ANNOTATIONS.has(other);
    if (!isHarmless && !(other === '$id' && path === '#')) refuse(path, other, keyword);
  }
}

/** @param beside the keyword that it stands beside, where it would be enforced without */
export function refuse(path: string, keyword: string, beside?: string): never {
  const problem =
    beside === undefined
      ? why`The schema's ${shown(path)} has the keyword ${shown(keyword)}, which is not enforced here.`
      : why`The schema's ${shown(path)} has the keyword ${shown(keyword)} beside ${beside}, which is not enforced here.`;
  throw new ConstraintError(path, why`${problem} Leave it out, or say it in another way.`, keyword);
}

/** A whole number from 0, or `absent` where the keyword is not there. */
export function countOf<T>(schema: JsonObject, keyword: string, path: string, absent: T): number | T {
  if (!(keyword in schema)) return absent;
  const value = schema[keyword];
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new ConstraintError(path, isNot(keyword, path, why`a whole number from 0`), keyword);
}

/** @param what it has to be */
export function isNot(keyword: string, path: string, what: Reason): Reason {
  return why`The ${keyword} of the schema's ${shown(path)} is not ${what}.`;
}
