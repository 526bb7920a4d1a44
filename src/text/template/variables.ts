// The variables of a chat template, in the form of transformers, from a checked request. Every text of the request
// passes a function that knows its author.

import { InvalidRequestError } from '../../errors';
import { type Author, authorOf, MODEL, PERSON } from '../authors';
import { asObject } from '../json';
import type { ChatMessage, ChatRequest, Tool, ToolCall } from './message';

/** Records or replaces a text of the request. */
export type Mark = (text: string, author: Author) => string;

/** How a template wants its messages. */
export interface Forms {
  /** The field of a message with its thinking. Null: thinking goes into the content, between `open` and `close`. */
  readonly thinkingField: string | null;
  readonly thinking: { readonly open: string; readonly close: string } | null;
  /** Arguments of calls are JSON text instead of mappings. */
  readonly textArguments: boolean;
  /** The content of a message with nothing but calls is none instead of ''. */
  readonly nullContent: boolean;
  /** Ids of calls have nine letters or digits. */
  readonly shortIds: boolean;
}

const MAX_DEPTH = 32;
/** Most values in tools and template arguments, all levels together. */
const MAX_VALUES = 20_000;
const MAX_NAME = 256;
const RESERVED =
  /^(messages|tools|add_generation_prompt|[be]os_token|raise_exception|range|strftime_now|true|false|none)$/i;

/** @throws InvalidRequestError for anything that is not what the types say */
export function checkRequest({ messages, tools, templateArguments }: ChatRequest): void {
  let values = 0;
  const check = (value: unknown, what: string, depth = 0): void => {
    const object = asObject(value);
    if (depth > MAX_DEPTH || ++values > MAX_VALUES) {
      throw new InvalidRequestError(
        `${what} has more than ${MAX_DEPTH} levels or ${MAX_VALUES} values. Send a smaller one.`,
      );
    }
    if (object || Array.isArray(value)) {
      for (const child of Object.values(value as object)) check(child, what, depth + 1);
    } else if (value !== null && !/^(string|number|boolean)$/.test(typeof value)) {
      throw new InvalidRequestError(`${what} holds a ${typeof value}. Send JSON values.`);
    }
  };
  const wants = (holds: boolean, what: string) => {
    if (!holds) throw new InvalidRequestError(`${what}.`);
  };
  wants(tools === undefined || Array.isArray(tools), 'tools must be a list');
  for (const [i, tool] of (tools ?? []).entries()) {
    const { name, description = '', parameters = {} } = asObject(tool) ?? {};
    wants(isName(name), `Tool ${i} needs a name of 1 to ${MAX_NAME} characters`);
    wants(typeof description === 'string', `The description of tool ${i} must be text`);
    wants(asObject(parameters) !== null, `The parameters of tool ${i} must be a JSON Schema, an object`);
    check(parameters, `Tool ${i}`);
  }
  for (const [i, { reasoning = '', toolCalls = [], toolCallId = '' }] of messages.entries()) {
    const isText = typeof reasoning === 'string' && typeof toolCallId === 'string';
    wants(
      isText && Array.isArray(toolCalls),
      `Message ${i} needs text as reasoning and toolCallId, and a list of calls`,
    );
    for (const call of toolCalls) {
      const { id, name, arguments: json } = (asObject(call) ?? {}) as Partial<ToolCall>;
      const isCall = typeof id === 'string' && isName(name) && typeof json === 'string';
      wants(isCall, `A call of message ${i} needs an id, a name and arguments, all text`);
    }
  }
  wants(templateArguments === undefined || asObject(templateArguments) !== null, 'templateArguments must be an object');
  for (const [name, value] of Object.entries(templateArguments ?? {})) {
    wants(/^[a-z_]\w*$/i.test(name) && !RESERVED.test(name), `templateArguments cannot set "${name.slice(0, 80)}"`);
    check(value, `The template argument ${name}`);
  }
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name !== '' && name.length <= MAX_NAME;
}

/** `mark` is called for each text of the request, keys included. */
export function variablesOf(request: ChatRequest, forms: Forms | null, mark: Mark): Record<string, unknown> {
  const { messages, tools = [], templateArguments = {} } = request;
  const names = new Map<string, string>(); // of the tools called, by id
  for (const { toolCalls = [] } of messages) for (const { id, name } of toolCalls) names.set(id, name);
  const numbers = new Map(Array.from(names.keys(), (id, i) => [id, String(i).padStart(9, '0')]));
  const idOf = (id: string, author: Author) => mark(forms?.shortIds ? (numbers.get(id) ?? id) : id, author);

  const message = ({ role, content, reasoning, toolCalls = [], toolCallId }: ChatMessage) => {
    const out: Record<string, unknown> = { role };
    const shown = forms?.thinkingField === null && forms.thinking && reasoning ? forms.thinking : null;
    const text = shown ? `${shown.open}${reasoning}${shown.close}${content}` : content;
    out.content = text === '' && toolCalls.length > 0 && forms?.nullContent ? null : mark(text, authorOf(role));
    if (reasoning && forms?.thinkingField) out[forms.thinkingField] = mark(reasoning, MODEL);
    if (toolCalls.length > 0) {
      out.tool_calls = toolCalls.map((call) => ({
        id: idOf(call.id, MODEL),
        type: 'function',
        function: { name: mark(call.name, MODEL), arguments: argumentsOf(call.arguments) },
      }));
    }
    if (toolCallId) out.tool_call_id = idOf(toolCallId, PERSON);
    const name = names.get(toolCallId ?? '');
    if (name !== undefined) out.name = mark(name, PERSON);
    return out;
  };
  const argumentsOf = (json: string): unknown => {
    const mapping = forms?.textArguments ? null : parsedObject(json);
    return mapping ? marked(mapping, MODEL, mark) : mark(json, MODEL);
  };
  return {
    ...Object.fromEntries(
      Object.entries(templateArguments).map(([name, value]) => [name, marked(value, PERSON, mark)]),
    ),
    messages: messages.map(message),
    tools: tools.length === 0 ? null : tools.map((tool) => ({ type: 'function', function: toolOf(tool, mark) })),
  };
}

function toolOf({ name, description, parameters }: Tool, mark: Mark): Record<string, unknown> {
  return {
    name: mark(name, PERSON),
    ...(description !== undefined && { description: mark(description, PERSON) }),
    parameters: marked(parameters ?? { type: 'object', properties: {} }, PERSON, mark),
  };
}

/** The object that a JSON text stands for. Null for any other text, and for too many levels. */
function parsedObject(json: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(json);
    return isDeep(value, MAX_DEPTH) ? null : asObject(value);
  } catch {
    return null;
  }
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => isDeep(child, levels - 1));
}

/** A JSON value with all its texts and keys marked. */
function marked(value: unknown, author: Author, mark: Mark): unknown {
  if (typeof value === 'string') return mark(value, author);
  if (Array.isArray(value)) return value.map((item) => marked(item, author, mark));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [mark(key, author), marked(item, author, mark)]),
  );
}
