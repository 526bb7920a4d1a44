// Arrays of a schema.

import { ConstraintError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { NEVER, type Node } from '../grammar';
import type { SchemaContext } from './context';
import { countOf, isNot, type Place } from './keywords';

export function arrayNode(context: SchemaContext, schema: JsonObject, { path, depth }: Place): Node {
  const min = countOf(schema, 'minItems', path, 0);
  const max = countOf(schema, 'maxItems', path, null);
  const prefix = 'prefixItems' in schema ? schema.prefixItems : [];
  if (!Array.isArray(prefix)) {
    throw new ConstraintError(path, isNot('prefixItems', path, why`a list`), 'prefixItems');
  }
  if (max !== null && min > max) return NEVER;
  const first = prefix.map((one, i) => context.node(one, { path: `${path}/prefixItems/${i}`, depth: depth + 1 }));
  // What nothing is said about is left out, unless there have to be more items.
  const isClosed = !context.isOpen && prefix.length > 0 && !('items' in schema) && min <= prefix.length;
  const rest = 'items' in schema ? schema.items : !isClosed;
  const others = rest === false ? null : context.ruleOf(rest, { path: `${path}/items`, depth: depth + 1 });
  return context.text.array(first, others, min, max);
}
