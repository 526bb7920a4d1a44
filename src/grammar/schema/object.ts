// Objects of a schema. Properties come in the order of the schema, and then the required ones that it only names.

import { ConstraintError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { type Reason, why } from '../../shared/why';
import { choice, type ListPart, literal, NEVER, type Node, repeat, sequence } from '../grammar';
import { shown } from '../shown';
import { allBut, codePoints } from '../syntax/code_points';
import type { SchemaContext } from './context';
import { QUOTE } from './json_text';
import { isNot, type Place, refuse } from './keywords';

/** The cost of a letter that must be told from all others. */
const WORK_PER_LETTER = 100;

/** Longest key that an open object has to tell from others, in code points. */
const MAX_KEY = 256;

export function objectNode(context: SchemaContext, schema: JsonObject, { path, depth }: Place): Node {
  const { text } = context;
  const { properties = {}, required = [], additionalProperties: open = true } = schema;
  if (!isJsonObject(properties)) malformed(path, 'properties', why`an object`);
  if (!areTexts(required)) malformed(path, 'required', why`a list of names`);
  const listed = listedNames(schema, path, [...Object.keys(properties), ...required]);
  const areNamed = Object.keys(properties).length + required.length > 0;
  // Nothing being said, there are no properties beside those that are named.
  const isClosed = areNamed && !context.isOpen && !('additionalProperties' in schema);
  const others = !listed && !isClosed && open;
  const place = (name: string): Place => ({ path: `${path}/${name}`, depth: depth + 1 });
  const part = (name: string, node: Node): ListPart => ({
    node: text.pair(literal(JSON.stringify(name)), node),
    isOptional: !required.includes(name),
  });
  const parts = Object.entries(properties).map(([name, inner]) =>
    part(name, context.node(inner, place(`properties/${name}`))),
  );
  const unnamed = [...new Set([...required, ...(listed ?? [])])].filter((name) => !Object.hasOwn(properties, name));
  // A property that is required or listed, but not described, is written as one of the others, which `false` forbids.
  const rest = unnamed.length > 0 ? context.ruleOf(open, place('additionalProperties')) : NEVER;
  parts.push(...unnamed.map((name) => part(name, rest)));
  if (others !== false) {
    const names = [...Object.keys(properties), ...unnamed];
    const key = names.length === 0 ? text.string() : keyBut(context, names, path);
    const pair = text.pair(key, context.ruleOf(others, place('additionalProperties')));
    parts.push({ node: text.pairs(pair), isOptional: true });
  }
  return text.object(parts);
}

/**
 * The names that properties may have, as in a record over an enum; null if they may have any.
 * @param used the names of `properties`, which must be among them
 */
function listedNames({ propertyNames = true }: JsonObject, path: string, used: readonly string[]) {
  if (propertyNames === true) return null;
  if (!isJsonObject(propertyNames)) refuse(path, 'propertyNames');
  const { type = 'string', enum: names = null, ...others } = propertyNames;
  const areNames = names === null || (areTexts(names) && used.every((name) => names.includes(name)));
  if (!areNames || type !== 'string' || Object.keys(others).length > 0) refuse(path, 'propertyNames');
  return names;
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function malformed(path: string, keyword: string, what: Reason): never {
  throw new ConstraintError(path, isNot(keyword, path, what), keyword);
}

interface Letters {
  readonly next: Map<number, Letters>;
  isName: boolean;
}

/** A key that is none of these names, in the spelling of JSON.stringify, so that no name can be spelled otherwise. */
function keyBut({ book, text }: SchemaContext, names: readonly string[], path: string): Node {
  const nodes: Letters[] = [{ next: new Map(), isName: false }];
  for (const name of names) {
    const codes = [...name].map((letter) => letter.codePointAt(0) ?? 0);
    if (codes.length > MAX_KEY) {
      throw new ConstraintError(
        path,
        why`The schema's ${shown(path)} allows other properties beside a name of more than ${MAX_KEY} letters. Forbid them.`,
        'additionalProperties',
      );
    }
    book.fuel.spend(WORK_PER_LETTER * codes.length);
    let at = nodes[0];
    for (const code of codes) {
      const next = at.next.get(code) ?? { next: new Map(), isName: false };
      if (!at.next.has(code)) nodes.push(next);
      at.next.set(code, next);
      at = next;
    }
    at.isName = true;
  }
  const free = book.once('rest of a key', () => sequence(repeat(text.characterOf(allBut([])), 0, null), QUOTE));
  const written = new Map<Letters, Node>();
  for (const node of nodes.toReversed()) {
    const others = allBut(codePoints([...node.next.keys()].map((code) => [code, code] as const)));
    const further = [...node.next].map(([code, next]) =>
      sequence(text.characterOf([[code, code]]), written.get(next) ?? NEVER),
    );
    written.set(node, choice(...(node.isName ? [] : [QUOTE]), sequence(text.characterOf(others), free), ...further));
  }
  return sequence(QUOTE, written.get(nodes[0]) ?? NEVER);
}
