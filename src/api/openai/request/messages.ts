// The messages of chat completions: their checks, and as the engine's.

import type { ChatMessage } from '../../api_engine';
import type { WireMessage } from '../http/wire_types';
import { content, textOf } from './content';
import { type Check, list, object, refuse, text, word } from './schema';
import { isFunction } from './tools';

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
    ...refuse('audio'),
    ...refuse('function_call', 'send tool_calls', true),
  }),
};

const message: Check = (value, param) => {
  object({ 'role!': word(...Object.keys(MESSAGES)) })(value, param);
  MESSAGES[(value as WireMessage).role](value, param);
};

export const messages = list(message, 1);

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
