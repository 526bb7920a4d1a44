// Strings and numbers of a schema.

import { ConstraintError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { NEVER, type Node } from '../grammar';
import { shown } from '../shown';
import { boundedPattern } from './bounded_pattern';
import type { SchemaContext } from './context';
import { countOf, isNot, type Place } from './keywords';
import { type Bound, numberBetween } from './number_range';
import { FORMATS } from './string_formats';

export function stringNode(context: SchemaContext, schema: JsonObject, { path }: Place): Node {
  const { text, book, warn } = context;
  const min = countOf(schema, 'minLength', path, 0);
  const max = countOf(schema, 'maxLength', path, null);
  const keyword = 'pattern' in schema ? 'pattern' : 'format' in schema ? 'format' : null;
  if (keyword === null) return max !== null && min > max ? NEVER : text.string(min, max);
  // As zod writes them: the pattern says all of the format.
  if (keyword === 'pattern' && 'format' in schema) warn(`The format of ${shown(path)} is left to its pattern.`);
  const pattern = patternOf(keyword, schema[keyword], path);
  return book.once(`${keyword} ${schema[keyword]} of ${min} to ${max}`, () =>
    boundedPattern(context, pattern, min, max, path),
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

/** Largest multipleOf: the automaton has a state for each remainder and digit. */
const MAX_STEP = 1000;

/** Numbers between the bounds, as large as a double holds exactly. Without bounds and step, with an exponent, too. */
export function numberNode({ text, book }: SchemaContext, schema: JsonObject, { path }: Place, isWhole: boolean): Node {
  const min = tightest(schema, path, 'minimum', 'exclusiveMinimum', (a, b) => a > b);
  const max = tightest(schema, path, 'maximum', 'exclusiveMaximum', (a, b) => a < b);
  const step = countOf(schema, 'multipleOf', path, isWhole ? 1 : null);
  if (step !== null && (step < 1 || step > MAX_STEP)) {
    throw new ConstraintError(path, isNot('multipleOf', path, why`a whole number from 1 to ${MAX_STEP}`), 'multipleOf');
  }
  if (min === null && max === null && step === null) return text.number;
  const name = `number ${JSON.stringify([min, max, step])}`;
  return book.once(name, () => numberBetween(min, max, step, book.fuel));
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
