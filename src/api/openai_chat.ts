// POST /v1/chat/completions.

import type { ChatMessage, EngineChatOptions } from './api_engine';
import { answer, type Form, wireLogprobs } from './completion';
import type { ApiCall } from './http_request';
import { invalid } from './openai_errors';
import {
  content,
  effort,
  FUNCTION,
  format,
  isFunction,
  readEffort,
  readOptions,
  readTools,
  SHARED,
  textOf,
  toolChoice,
  verbosity,
} from './openai_request';
import type { ChatRequest, WireMessage } from './openai_types';
import type { CallPart } from './pieces';
import { type Check, flag, list, object, only, refuse, text, word } from './schema';

const CALL = object({
  'id!': text,
  type: isFunction,
  'function!': object({ 'name!': text, 'arguments!': text }),
});

/** Checks of a message by its role. */
const TEXT = { 'content!': content('text') };
const MESSAGES: Readonly<Record<string, Check>> = {
  system: object(TEXT),
  developer: object(TEXT),
  user: object(TEXT),
  tool: object({ ...TEXT, 'tool_call_id!': text }),
  assistant: object({
    content: content('text', 'refusal'),
    refusal: text,
    reasoning_content: text,
    reasoning: text,
    tool_calls: list(CALL),
    ...refuse('audio function_call'),
  }),
};

const message: Check = (value, param) => {
  object({ 'role!': word(...Object.keys(MESSAGES)) })(value, param);
  MESSAGES[(value as WireMessage).role](value, param);
};

const CHAT_REQUEST = object({
  ...SHARED,
  'messages!': list(message, 1),
  tools: list(object({ 'type!': isFunction, 'function!': object(FUNCTION) })),
  tool_choice: toolChoice({ 'function!': object({ 'name!': text }) }),
  logprobs: flag,
  reasoning_effort: effort,
  add_generation_prompt: flag,
  continue_final_message: flag,
  response_format: format,
  verbosity,
  modalities: list(only('text', 'answers are text')),
  ...refuse('audio functions function_call moderation store web_search_options'),
});

export async function chat(call: ApiCall): Promise<Response> {
  const { engine, json } = call;
  CHAT_REQUEST(json, '');
  const body = json as unknown as ChatRequest;
  const messages = body.messages.map(readMessage);
  const options: EngineChatOptions = {
    ...readOptions(body),
    ...readTools(
      engine,
      body.tools?.map((tool) => tool.function),
      body.tool_choice,
    ),
    ...readEffort(body.reasoning_effort, 'reasoning_effort', engine),
    templateArguments: body.chat_template_kwargs ?? undefined,
    continueLast: continuesLast(body),
    logprobs: body.logprobs ? (body.top_logprobs ?? 0) : undefined,
  };
  if (body.top_logprobs != null && !body.logprobs) throw invalid('top_logprobs', 'needs logprobs: true');
  return answer(call, CHAT, 1, (signal) => engine.chat(messages, { ...options, signal }));
}

function readMessage(message: WireMessage): ChatMessage {
  const { role, refusal, tool_calls, tool_call_id } = message;
  const reasoning = message.reasoning_content ?? message.reasoning;
  const calls = tool_calls?.map((call) => ({ id: call.id, ...call.function })) ?? [];
  return {
    role: role === 'developer' ? 'system' : role,
    content: textOf(message.content ?? refusal),
    ...(role === 'assistant' && { reasoning: reasoning || undefined, toolCalls: calls.length > 0 ? calls : undefined }),
    ...(role === 'tool' && { toolCallId: tool_call_id ?? '' }),
  };
}

/** vLLM's pair of fields: an answer begins a message, or continues the last one. */
function continuesLast(body: ChatRequest): boolean {
  const continues = body.continue_final_message ?? false;
  if (continues === (body.add_generation_prompt ?? !continues))
    throw invalid('add_generation_prompt', 'must not equal continue_final_message');
  return continues;
}

function wireCall({ index, id, name, arguments: text }: CallPart): object {
  const isFirst = name !== undefined;
  return { index, ...(isFirst && { id, type: 'function' }), function: { ...(isFirst && { name }), arguments: text } };
}

const CHAT: Form = {
  id: 'chatcmpl-',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  write: ({ reasoning, text, calls, logprobs }, isFirst, isChunk) => ({
    [isChunk ? 'delta' : 'message']: {
      ...(isFirst && { role: 'assistant' }),
      ...(reasoning && { reasoning_content: reasoning }),
      ...((text || isFirst) && { content: text || calls.length === 0 ? text : null }),
      ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
      ...(!isChunk && { refusal: null }),
    },
    logprobs: logprobs.length > 0 ? { content: logprobs.map(wireLogprobs), refusal: null } : null,
  }),
};
