// Conversations and lists of tools from JSON files, in the engine's form or in OpenAI's.

import type { WireFunction, WireMessage } from '../../../src/api/openai/http/wire_types';
import { messages as checkMessages, readMessage } from '../../../src/api/openai/request/messages';
import { tools as checkTools, readFunction } from '../../../src/api/openai/request/tools';
import type { ChatMessage, Tool } from '../../../src/engine/protocol';
import { readFlagFile } from '../command_line/flag_file';

/** @throws RunError for a file that is missing or no JSON list of objects */
function readList(file: string, flag: string): object[] {
  return readFlagFile(flag, file, (text) => {
    const json: unknown = JSON.parse(text);
    if (Array.isArray(json) && json.every((item) => typeof item === 'object' && item !== null)) return json;
    throw new Error('must hold a JSON list of objects.');
  });
}

/** The messages of a file. Those in the engine's form go to the engine as they are, which checks them. */
export function readConversation(file: string): ChatMessage[] {
  const messages = readList(file, '--messages');
  const isOwn = messages.some((message) => 'toolCalls' in message || 'toolCallId' in message);
  if (isOwn) return messages as ChatMessage[];
  checkMessages(messages, 'messages');
  return (messages as WireMessage[]).map(readMessage);
}

/** The tools of a file. */
export function readToolList(file: string): readonly Tool[] {
  const tools = readList(file, '--tools');
  if (!tools.some((tool) => 'function' in tool)) return tools as Tool[];
  checkTools(tools, 'tools');
  return (tools as { function: WireFunction }[]).map((tool) => readFunction(tool.function));
}
