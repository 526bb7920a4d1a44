// The arguments of a call, by the schema of its tool and in the notation of the model.

import { ConstraintError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { byteIn, choice, EMPTY, type ListPart, literal, type Node, optional, repeat, sequence } from '../grammar';
import type { Fuel } from '../limits';
import type { RuleBook } from '../rule_book';
import { schemaRule } from '../schema/json_schema';
import { JsonText } from '../schema/json_text';
import { LAST_OF_TEXT } from './control_range';
import { type CallForm, spellings, syntaxNode } from './form';
import { scan } from './scan';

/** A tool as far as its calls depend on it. */
export interface ToolForm {
  readonly name: string;
  /** A JSON schema. */
  readonly parameters?: unknown;
}

export interface ArgumentsContext {
  readonly book: RuleBook;
  readonly calls: CallForm;
  readonly controls: readonly string[];
  readonly fuel: Fuel;
  /** Takes a sentence about what is not enforced. */
  readonly warn: (message: string) => void;
}

/** @throws ConstraintError for a schema that is not enforced */
export function argumentsNode(context: ArgumentsContext, { name, parameters }: ToolForm): Node {
  if (context.calls.kind === 'tags') return taggedArguments(context, name, parameters);
  if (parameters === undefined || parameters === null) return anyArguments(context);
  const { node, warnings } = schemaRule(context.book, asObjectSchema(parameters));
  for (const warning of warnings) context.warn(warning);
  return node;
}

/** Any arguments. */
export function anyArguments(context: ArgumentsContext): Node {
  if (context.calls.kind === 'json') return new JsonText(context.book, 'free').anyObject;
  const key = repeat(KEY_LETTER, 1, MAX_KEY);
  return repeat(pairNode(context, key, textUntilClose(context)), 0, null);
}

const ELSEWHERE = ['$ref', 'anyOf', 'oneOf', 'const', 'enum', 'type'];
const MAX_KEY = 64;
/** A letter of a key between tags: of ASCII, none that begins or ends a tag. */
const KEY_LETTER = byteIn([0x2d, 0x2e], [0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);

/** Arguments are an object, also where a schema does not say so. */
function asObjectSchema(schema: unknown): unknown {
  if (!isJsonObject(schema) || ELSEWHERE.some((keyword) => keyword in schema)) return schema;
  return { ...schema, type: 'object' };
}

/** Each argument between tags: a text as it is, anything else as JSON. */
function taggedArguments(context: ArgumentsContext, tool: string, schema: unknown): Node {
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  if (!isJsonObject(schema) || !isJsonObject(properties)) return anyArguments(context);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const parts = Object.entries(properties).map(
    ([name, inner]): ListPart => ({
      node: pairNode(context, literal(name), taggedValue(context, `${tool}.${name}`, inner, schema)),
      isOptional: !required.includes(name),
    }),
  );
  if (parts.length === 0) return EMPTY;
  const list: Node = { kind: 'list', separator: EMPTY, parts };
  return parts.every(({ isOptional }) => isOptional) ? optional(list) : list;
}

/** @param value what is written up to and with the tag that closes it */
function pairNode({ calls, controls }: ArgumentsContext, key: Node, value: Node): Node {
  const tags = tagsOf(calls);
  return sequence(syntaxNode(tags.key, controls), key, syntaxNode(tags.value, controls), value);
}

function taggedValue(context: ArgumentsContext, name: string, schema: unknown, root: JsonObject): Node {
  const close = syntaxNode(tagsOf(context.calls).close, context.controls);
  if (!isJsonObject(schema) || schema.type !== 'string') {
    const { $defs, definitions } = root;
    const shared = { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) };
    const { node, warnings } = schemaRule(context.book, isJsonObject(schema) ? { ...shared, ...schema } : schema);
    for (const warning of warnings) context.warn(warning);
    return sequence(node, close);
  }
  const values = 'const' in schema ? [schema.const] : schema.enum;
  if (Array.isArray(values)) {
    const texts = values.filter((value) => typeof value === 'string');
    if (texts.length === 0) throw new ConstraintError('', `The enum of ${name} has no text.`, 'enum');
    return sequence(choice(...texts.map(literal)), close);
  }
  for (const keyword of ['minLength', 'maxLength', 'pattern', 'format']) {
    if (keyword in schema)
      context.warn(`The ${keyword} of ${name} is not enforced: this model writes texts between tags.`);
  }
  return textUntilClose(context);
}

/** A text up to the tag that closes it. */
function textUntilClose({ calls, controls, fuel }: ArgumentsContext): Node {
  const { close } = tagsOf(calls);
  const tag = close.trim();
  const node = syntaxNode(close.slice(close.trimEnd().length), controls);
  const anywhere = spellings(tag, controls).map((bytes) => ({ bytes, node, next: null }));
  return scan([{ atStart: [], anywhere, mayEnd: false, lastByte: LAST_OF_TEXT }], fuel);
}

function tagsOf({ tags }: CallForm): NonNullable<CallForm['tags']> {
  if (tags) return tags;
  throw new ConstraintError('', 'The calls of this model have no tags.');
}
