// Arrays of a schema.

import { ConstraintError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { NEVER, type Node } from '../grammar';
import type { SchemaContext } from './context';
import { countOf, isNot, type Place, refuse } from './keywords';

export function arrayNode(context: SchemaContext, schema: JsonObject, { path, depth }: Place): Node {
  const min = countOf(schema, 'minItems', path, 0);
  const max = countOf(schema, 'maxItems', path, null);
  const [begin, others] = keywordsOf(schema, path);
  const prefix = begin in schema ? schema[begin] : [];
  if (!Array.isArray(prefix)) throw new ConstraintError(path, isNot(begin, path, why`a list`), begin);
  if (max !== null && min > max) return NEVER;
  const place = (part: string): Place => ({ path: `${path}/${part}`, depth: depth + 1 });
  const first = prefix.map((one, i) => context.node(one, place(`${begin}/${i}`)));
  // What nothing is said about is left out, unless there have to be more items.
  const isClosed = !context.isOpen && prefix.length > 0 && !(others in schema) && min <= prefix.length;
  const rest = others in schema ? schema[others] : !isClosed;
  const further = rest === false ? null : context.ruleOf(rest, place(others));
  return context.text.array(first, further, min, max);
}

/** The keywords of the first items, and of all others. A list as `items` is of draft 7, as the AI SDK writes tuples. */
function keywordsOf(schema: JsonObject, path: string): readonly [begin: string, others: string] {
  if (!Array.isArray(schema.items)) return ['prefixItems', 'items'];
  if ('prefixItems' in schema) refuse(path, 'prefixItems', 'items');
  return ['items', 'additionalItems'];
}
