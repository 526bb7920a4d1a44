// The messages and tools of chat completions: their checks, and as the engine's.

import type { ChatMessage } from '../api_engine';
import { content, FUNCTION, isFunction, MAX_TOOLS, textOf } from './request';
import { type Check, list, object, refuse, text, word } from './schema';
import type { WireMessage } from './wire_types';

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

export const messages = list(message, 1);
export const tools = list(object({ 'type!': isFunction, 'function!': object(FUNCTION) }), 0, MAX_TOOLS);

export function readMessage(message: WireMessage): ChatMessage {
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
