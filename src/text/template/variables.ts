// The variables of a chat template, in the form of transformers, from a request. Every text of the request
// passes a function that knows its author.

import { type Author, authorOf, MODEL, PERSON } from '../authors';
import { asObject } from '../json';
import { parseSpelled, SpelledNumber } from '../spelled_json';
import type { ChatMessage, ChatRequest, Tool } from './message';

/** Records or replaces a text of the request. */
export type Mark = (text: string, author: Author) => string;

/** The form of messages that a template demands. */
export interface Forms {
  /** The field of a message with its thinking. */
  readonly thinkingField: string | null;
  /** Thinking goes into the content, between `open` and `close`. */
  readonly splitsContent: boolean;
  readonly thinking: { readonly open: string; readonly close: string } | null;
  /** Arguments of calls are JSON text instead of mappings. */
  readonly textArguments: boolean;
  /** The content of a message with nothing but calls is none instead of ''. */
  readonly nullContent: boolean;
  /** Ids of calls have nine letters or digits. */
  readonly shortIds: boolean;
}

/** Most levels of arguments; those with more stay text. */
const MAX_DEPTH = 32;

/** `mark` is called for each text of the request, keys included. */
export function variablesOf(request: ChatRequest, forms: Forms | null, mark: Mark): Record<string, unknown> {
  const { messages, tools = [], templateArguments = {} } = request;
  const names = new Map<string, string>(); // of the tools called, by id
  for (const { toolCalls = [] } of messages) for (const { id, name } of toolCalls) names.set(id, name);
  const numbers = new Map(Array.from(names.keys(), (id, i) => [id, String(i).padStart(9, '0')]));
  const idOf = (id: string, author: Author) => mark(forms?.shortIds ? (numbers.get(id) ?? id) : id, author);

  const message = ({ role, content, reasoning, toolCalls = [], toolCallId }: ChatMessage) => {
    const out: Record<string, unknown> = { role };
    const shown = forms?.splitsContent && reasoning ? forms.thinking : null;
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
    const value = parseSpelled(json);
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
  if (typeof value !== 'object' || value === null || value instanceof SpelledNumber) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [mark(key, author), marked(item, author, mark)]),
  );
}
