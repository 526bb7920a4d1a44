// POST /v1/chat/completions.

import { answer, type Form, wireLogprobs } from './answer/completion';
import type { CallPart } from './answer/pieces';
import { invalid } from './http/errors';
import type { ApiCall } from './http/http_request';
import type { ChatRequest } from './http/wire_types';
import { format as isFormat } from './request/constraint';
import { messages, readMessage } from './request/messages';
import { effort, readChatOptions, SHARED, verbosity } from './request/options';
import { flag, list, object, only, refuse, text } from './request/schema';
import { toolChoice, tools } from './request/tools';

const CHAT_REQUEST = object({
  ...SHARED,
  'messages!': messages,
  tools,
  tool_choice: toolChoice({ 'function!': object({ 'name!': text }) }),
  logprobs: flag,
  reasoning_effort: effort,
  add_generation_prompt: flag,
  continue_final_message: flag,
  response_format: isFormat,
  modalities: list(only('text', 'answers are text')),
  verbosity,
  ...refuse('functions function_call', 'send tools', true),
  ...refuse('audio moderation store web_search_options'),
});

export async function chat(call: ApiCall): Promise<Response> {
  const { engine, json } = call;
  CHAT_REQUEST(json, '');
  const body = json as unknown as ChatRequest;
  const conversation = body.messages.map(readMessage);
  const functions = body.tools?.map((tool) => tool.function);
  const effort = { param: 'reasoning_effort', value: body.reasoning_effort };
  const format = { param: 'response_format', value: body.response_format };
  const options = readChatOptions(body, engine, functions, effort, format, body.logprobs);
  const continueLast = continuesLast(body);
  if (body.top_logprobs != null && !body.logprobs) throw invalid('top_logprobs', 'needs logprobs: true');
  return answer(call, CHAT, 1, (signal) => engine.chat(conversation, { ...options, continueLast, signal }));
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
