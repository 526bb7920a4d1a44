// The fields that constrain an answer: OpenAI's formats, and llama.cpp's grammar and json_schema.

import type { EngineGenerateOptions } from '../../api_engine';
import { invalid } from '../http/errors';
import type { SharedRequest, WireFormat } from '../http/wire_types';
import { type Check, object, text, word } from './schema';

type Constraint = EngineGenerateOptions['constraint'];

/** Checks of llama.cpp's fields. */
export const CONSTRAINTS: Readonly<Record<string, Check>> = { grammar: text, json_schema: object() };

/** A schema as OpenAI names it. Its name and `strict` are not read: a schema is always kept. */
const schema = object({ 'schema!': object() });

const FORMATS: Readonly<Record<string, Check>> = {
  text: object(),
  json_object: object({ schema: object() }), // llama.cpp's form of a schema
  json_schema: object({ 'json_schema!': schema }),
};

/** A format of chat completions, or of responses, where the schema lies in the format itself. */
function formatOf(ofType: Readonly<Record<string, Check>>): Check {
  const type = object({ 'type!': word(...Object.keys(ofType)) });
  return (value, param) => {
    type(value, param);
    ofType[(value as WireFormat).type](value, param);
  };
}

export const format = /* @__PURE__ */ formatOf(FORMATS);
export const flatFormat = /* @__PURE__ */ formatOf({ ...FORMATS, json_schema: schema });

/**
 * The constraint of a request.
 * @param param the name of the field with the format
 * @throws ApiError for more than one
 */
export function readConstraint(
  { grammar, json_schema }: SharedRequest,
  format: WireFormat | null | undefined,
  param: string,
): { constraint: Constraint } {
  const given: [string, Constraint][] = [];
  if (format && format.type !== 'text') given.push([param, ofFormat(format)]);
  if (grammar) given.push(['grammar', { kind: 'grammar', source: grammar }]);
  if (json_schema) given.push(['json_schema', { kind: 'json_schema', schema: json_schema }]);
  const [first, second] = given;
  if (!first) return { constraint: undefined };
  if (second) throw invalid(second[0], `must not come with ${first[0]}`);
  return { constraint: first[1] };
}

function ofFormat({ type, schema, json_schema }: WireFormat): Constraint {
  const named = type === 'json_schema' ? (json_schema?.schema ?? schema) : schema;
  return named ? { kind: 'json_schema', schema: named } : { kind: 'json_object' };
}
