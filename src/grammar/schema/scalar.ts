// Strings and numbers of a schema.

import { ConstraintError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { NEVER, type Node, sequence } from '../grammar';
import { shown } from '../shown';
import { Letters } from '../syntax/letters';
import { parseRegex } from '../syntax/regex';
import type { SchemaContext } from './context';
import { integerBetween, MAX_INTEGER } from './integer_range';
import { QUOTE } from './json_text';
import { countOf, isNot, type Place, refuse } from './keywords';
import { type Bound, numberBetween } from './number_range';
import { FORMATS } from './string_formats';

/** The cost of the digits of a number between bounds. */
const WORK_PER_RANGE = 10_000;

const LENGTHS = ['minLength', 'maxLength'] as const;

export function stringNode({ text, book, warn }: SchemaContext, schema: JsonObject, { path }: Place): Node {
  const min = countOf(schema, 'minLength', path, 0);
  const max = countOf(schema, 'maxLength', path, null);
  const keyword = 'pattern' in schema ? 'pattern' : 'format' in schema ? 'format' : null;
  if (keyword === null) return max !== null && min > max ? NEVER : text.string(min, max);
  for (const other of LENGTHS) if (other in schema) refuse(path, other, keyword);
  // As zod writes them: the pattern says all of the format.
  if (keyword === 'pattern' && 'format' in schema) warn(`The format of ${shown(path)} is left to its pattern.`);
  const pattern = patternOf(keyword, schema[keyword], path);
  return book.once(`${keyword} ${schema[keyword]}`, () =>
    sequence(QUOTE, parseRegex(pattern, new Letters(text.characterOf, book.fuel), path, 'search'), QUOTE),
  );
}

function patternOf(keyword: string, value: unknown, path: string): string {
  if (typeof value !== 'string') {
    throw new ConstraintError(path, isNot(keyword, path, why`a text`), keyword);
  }
  if (keyword === 'pattern') return value;
  const format = Object.hasOwn(FORMATS, value) ? FORMATS[value] : undefined;
  if (format !== undefined) return format;
  throw new ConstraintError(
    path,
    why`The schema's ${shown(path)} has the format ${shown(value)}, which is not enforced here. Use one of ${Object.keys(FORMATS).join(', ')}, or a pattern.`,
    'format',
  );
}

/** Whole numbers between the bounds. Without bounds, up to the digits that a double holds. */
export function integerNode({ text }: SchemaContext, schema: JsonObject, { path }: Place): Node {
  const min = tightest(schema, path, 'minimum', 'exclusiveMinimum', (a, b) => a > b);
  const max = tightest(schema, path, 'maximum', 'exclusiveMaximum', (a, b) => a < b);
  if (min === null && max === null) return text.integer;
  const least = min === null ? -MAX_INTEGER : min.isExclusive ? Math.floor(min.value) + 1 : Math.ceil(min.value);
  const most = max === null ? MAX_INTEGER : max.isExclusive ? Math.ceil(max.value) - 1 : Math.floor(max.value);
  return integerBetween(least, most);
}

/** Numbers between the bounds. Without bounds, with an exponent too. */
export function numberNode({ text, book }: SchemaContext, schema: JsonObject, { path }: Place): Node {
  const min = tightest(schema, path, 'minimum', 'exclusiveMinimum', (a, b) => a > b);
  const max = tightest(schema, path, 'maximum', 'exclusiveMaximum', (a, b) => a < b);
  if (min === null && max === null) return text.number;
  return book.once(`number ${JSON.stringify([min, max])}`, () => {
    book.fuel.spend(WORK_PER_RANGE);
    return numberBetween(min, max);
  });
}

/** The tighter one of two bounds that may be there. */
function tightest(
  schema: JsonObject,
  path: string,
  inclusive: string,
  exclusive: string,
  isTighter: (a: number, b: number) => boolean,
): Bound | null {
  const bound = (keyword: string): Bound | null => {
    if (!(keyword in schema)) return null;
    const value = schema[keyword];
    if (typeof value === 'number' && Number.isFinite(value)) return { value, isExclusive: keyword === exclusive };
    throw new ConstraintError(path, isNot(keyword, path, why`a number`), keyword);
  };
  const [one, other] = [bound(inclusive), bound(exclusive)];
  if (one === null || other === null) return one ?? other;
  return isTighter(one.value, other.value) ? one : other;
}
