// Strings and numbers of a schema.

import { ConstraintError } from '../errors';
import type { JsonObject } from '../shared/json_object';
import { NEVER, type Node, sequence } from './grammar';
import { integerBetween, MAX_INTEGER } from './integer_range';
import { QUOTE } from './json_text';
import { parseRegex } from './regex';
import type { SchemaContext } from './schema_context';
import { countOf, type Place, refuse, shown } from './schema_keywords';
import { FORMATS } from './string_formats';

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
const LENGTHS = ['minLength', 'maxLength'] as const;

export function stringNode({ text }: SchemaContext, schema: JsonObject, { path }: Place): Node {
  const min = countOf(schema, 'minLength', path, 0);
  const max = countOf(schema, 'maxLength', path, null);
  const keyword = 'pattern' in schema ? 'pattern' : 'format' in schema ? 'format' : null;
  if (keyword === null) return max !== null && min > max ? NEVER : text.string(min, max);
  for (const other of [...LENGTHS, 'format']) if (other in schema && other !== keyword) refuse(path, other, keyword);
  const inner = parseRegex(patternOf(keyword, schema[keyword], path), text.characterOf, path, 'search');
  return sequence(QUOTE, inner, QUOTE);
}

function patternOf(keyword: string, value: unknown, path: string): string {
  if (typeof value !== 'string') {
    throw new ConstraintError(path, `The ${keyword} of the schema's ${shown(path)} is not a text.`, keyword);
  }
  if (keyword === 'pattern') return value;
  const format = Object.hasOwn(FORMATS, value) ? FORMATS[value] : undefined;
  if (format !== undefined) return format;
  throw new ConstraintError(
    path,
    `The schema's ${shown(path)} has the format ${shown(value)}, which is not enforced here. ` +
      `Use one of ${Object.keys(FORMATS).join(', ')}, or a pattern.`,
    'format',
  );
}

/** Whole numbers between the bounds. Without bounds, up to the digits that a double holds. */
export function integerNode({ text }: SchemaContext, schema: JsonObject, { path }: Place): Node {
  if (!BOUNDS.some((keyword) => keyword in schema)) return text.integer;
  const bound = (keyword: string, absent: number): number => {
    const value = keyword in schema ? schema[keyword] : absent;
    if (typeof value === 'number' && !Number.isNaN(value))
      return Math.max(-MAX_INTEGER - 1, Math.min(MAX_INTEGER + 1, value));
    throw new ConstraintError(path, `The ${keyword} of the schema's ${shown(path)} is not a number.`, keyword);
  };
  const min = Math.max(
    Math.ceil(bound('minimum', -MAX_INTEGER)),
    Math.floor(bound('exclusiveMinimum', -MAX_INTEGER - 1)) + 1,
  );
  const max = Math.min(
    Math.floor(bound('maximum', MAX_INTEGER)),
    Math.ceil(bound('exclusiveMaximum', MAX_INTEGER + 1)) - 1,
  );
  return integerBetween(min, max);
}

/** Bounds of numbers that need not be whole. */
export function refuseBounds(schema: JsonObject, { path }: Place): void {
  for (const keyword of BOUNDS) if (keyword in schema) refuse(path, keyword, 'a type that is not integer');
}
