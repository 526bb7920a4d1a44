// Messages, tools and the choice of a tool, from a request's JSON to the engine's.

import type { ChatMessage, EngineChatOptions } from './api_engine';
import { Fields } from './fields';

type Tool = NonNullable<EngineChatOptions['tools']>[number];
type ToolCall = NonNullable<ChatMessage['toolCalls']>[number];
type ToolChoice = EngineChatOptions['toolChoice'];

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

export function readMessages(body: Fields): ChatMessage[] {
  const messages = body.need('messages', body.objects('messages'));
  if (messages.length === 0) throw body.wrong('messages', 'must hold at least one message');
  return messages.map(readMessage);
}

function readMessage(message: Fields): ChatMessage {
  const role = message.need('role', message.word('role', ROLES));
  if (role === 'function') throw message.unsupported('role', 'use the role tool');
  if (role === 'assistant') return readAnswer(message);
  const content = message.need('content', readContent(message, 'content', ['text']));
  if (role === 'tool') return { role, content, toolCallId: message.need('tool_call_id', message.text('tool_call_id')) };
  return { role: role === 'developer' ? 'system' : role, content };
}

function readAnswer(message: Fields): ChatMessage {
  for (const key of ['audio', 'function_call'])
    if (message.has(key)) throw message.unsupported(key, 'answers hold text and tool_calls');
  const toolCalls = message.objects('tool_calls')?.map(readCall) ?? [];
  const reasoning = message.text('reasoning_content') ?? message.text('reasoning');
  return {
    role: 'assistant',
    content: readContent(message, 'content', ['text', 'refusal']) ?? message.text('refusal') ?? '',
    ...(reasoning && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function readCall(call: Fields): ToolCall {
  if ((call.text('type') ?? 'function') !== 'function') throw call.unsupported('type', 'calls are of type function');
  const body = call.need('function', call.object('function'));
  return {
    id: call.need('id', call.text('id')),
    name: body.need('name', body.text('name')),
    arguments: body.need('arguments', body.text('arguments')),
  };
}

/** The text of a content: a string, or parts that each hold a text under the name of their type. */
export function readContent(message: Fields, key: string, types: readonly string[]): string | undefined {
  if (!Array.isArray(message.json[key])) return message.text(key);
  return message
    .objects(key)
    ?.map((part) => {
      const type = part.need('type', part.text('type'));
      if (!types.includes(type)) throw part.unsupported('type', `the model reads ${types.join(' and ')} alone`);
      const field = type === 'refusal' ? type : 'text';
      return part.need(field, part.text(field));
    })
    .join('');
}

const MAX_NAME = 256;

/** A tool from the object that holds its name. Its `strict` is not read: no grammar constrains arguments yet. */
function readTool(tool: Fields): Tool {
  const name = tool.need('name', tool.text('name'));
  if (name === '' || name.length > MAX_NAME) throw tool.wrong('name', `must have 1 to ${MAX_NAME} characters`);
  const description = tool.text('description');
  const parameters = tool.object('parameters')?.json;
  return { name, ...(description !== undefined && { description }), ...(parameters && { parameters }) };
}

/**
 * The tools and the choice of one. In chat completions a tool lies under `function`, in responses beside its `type`.
 */
export function readTools(
  body: Fields,
  isNested: boolean,
  takesTools: boolean,
): Pick<EngineChatOptions, 'tools' | 'toolChoice'> {
  const inner = (fields: Fields) => (isNested ? fields.need('function', fields.object('function')) : fields);
  const tools = (body.objects('tools') ?? []).map((tool) => {
    if (tool.need('type', tool.text('type')) !== 'function')
      throw tool.unsupported('type', 'tools are of type function');
    return readTool(inner(tool));
  });
  const toolChoice = readToolChoice(body, tools, inner);
  if (tools.length === 0 || toolChoice === 'none') return {};
  if (!takesTools) throw body.unsupported('tools', "this model's chat template takes none");
  return { tools, ...(toolChoice && { toolChoice }) };
}

function readToolChoice(body: Fields, tools: readonly Tool[], inner: (fields: Fields) => Fields): ToolChoice {
  if (!body.has('tool_choice')) return undefined;
  if (typeof body.json.tool_choice === 'string') {
    const word = body.word('tool_choice', ['none', 'auto', 'required']);
    if (word === 'required' && tools.length === 0) throw body.wrong('tool_choice', 'needs tools');
    return word;
  }
  const choice = Fields.of(body.json.tool_choice, body.param('tool_choice'));
  if (choice.need('type', choice.text('type')) !== 'function')
    throw choice.unsupported('type', 'a choice is none, auto, required or a function');
  const named = inner(choice);
  const name = named.need('name', named.text('name'));
  if (!tools.some((tool) => tool.name === name)) throw named.wrong('name', 'must be the name of one of the tools');
  return { name };
}
