// Prompts of a page as messages of the engine. Checks what the browser's own interface would check.

import type { ChatMessage, ToolCall } from '../../engine/protocol';
import { isJsonObject } from '../../shared/json_object';
import { notSupported } from './errors';
import { callFromPage, responseFromPage } from './tools';

export interface PromptInput {
  messages: ChatMessage[];
  /** The answer continues the last message. */
  prefix: boolean;
}

const ROLES = ['system', 'user', 'assistant'];
/** The types of content that the interface knows. */
export const CONTENT_TYPES = ['text', 'image', 'audio', 'tool-call', 'tool-response'];

/**
 * The options of a call, as the browser reads a dictionary: null and undefined are none, unknown members are ignored.
 * @throws TypeError for what is no object
 */
export function dictionary<T extends object>(given: T | null | undefined): Partial<T> {
  const options: unknown = given ?? {};
  if (typeof options === 'object' || typeof options === 'function') return options as Partial<T>;
  throw new TypeError('Options must be an object.');
}

/**
 * The messages of a prompt. What is neither a text nor a list counts as a text, as for the browser's interface.
 * @param inputs the types of content, beside text, that the session was created for
 * @throws TypeError, DOMException SyntaxError, NotSupportedError or DataError
 */
export function readPrompt(input: unknown, inputs: ReadonlySet<string>, mayPrefix = false): PromptInput {
  if (!isList(input)) return { messages: [{ role: 'user', content: String(input) }], prefix: false };
  const given = [...input];
  const messages = given.flatMap((message, i) => {
    if (!isJsonObject(message)) throw new TypeError('A message must be an object with role and content.');
    const { role, content, prefix } = message;
    if (typeof role !== 'string' || !ROLES.includes(role)) throw new TypeError(`"${role}" is no role of a message.`);
    if (content === undefined) throw new TypeError('A message needs content.');
    if (role === 'system' && i > 0) throw new TypeError('The system prompt must be the first message.');
    if (prefix && !(mayPrefix && role === 'assistant' && i === given.length - 1)) {
      throw new DOMException('Only the last message of a prompt, by the assistant, may be a prefix.', 'SyntaxError');
    }
    return messagesOf(role as 'system' | 'user' | 'assistant', content, inputs);
  });
  const prefix = given.length > 0 && Boolean((given[given.length - 1] as { prefix?: unknown }).prefix);
  return { messages: messages.length > 0 ? messages : [{ role: 'user', content: '' }], prefix };
}

function isList(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

/** The message of a role: its text and its calls. Each result of a tool is a message of its own before it. */
function messagesOf(
  role: 'system' | 'user' | 'assistant',
  content: unknown,
  inputs: ReadonlySet<string>,
): ChatMessage[] {
  if (!isList(content)) return [{ role, content: String(content) }];
  const results: ChatMessage[] = [];
  const toolCalls: ToolCall[] = [];
  let text = '';
  for (const part of content) {
    const { type, value } = isJsonObject(part) ? part : {};
    if (typeof type !== 'string' || !CONTENT_TYPES.includes(type))
      throw new TypeError(`"${type}" is no type of content.`);
    checkPart(role, type, value, inputs);
    if (type === 'text') text += value;
    else if (type === 'tool-call') toolCalls.push(callFromPage(value));
    else {
      const { id, content } = responseFromPage(value);
      results.push({ role: 'tool', content, toolCallId: id });
    }
  }
  if (results.length > 0 && text === '') return results;
  return [...results, { role, content: text, ...(toolCalls.length > 0 && { toolCalls }) }];
}

function checkPart(role: string, type: string, value: unknown, inputs: ReadonlySet<string>): void {
  if (type === 'text') {
    if (typeof value !== 'string') throw new TypeError('The value of text must be a string.');
    return;
  }
  const author = { 'tool-call': 'assistant', 'tool-response': 'user' }[type] ?? role;
  if (role !== author) throw new TypeError(`Content of type ${type} belongs to a message by ${author}.`);
  if (type === 'image' || type === 'audio') throw notSupported(`The model reads text, no ${type}.`);
  if (!inputs.has(type)) throw notSupported(`The session was created without ${type} in expectedInputs.`);
}

/**
 * Messages for chat templates, many of which want user and assistant in turns: messages by the user in a row become
 * one.
 */
export function inTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role !== 'user' || last?.role !== 'user') turns.push(message);
    else if (isBlank(last)) turns[turns.length - 1] = message;
    else if (!isBlank(message)) turns[turns.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
  }
  return turns;
}

/** True for a message that says nothing. The engine refuses to answer it. */
export function isBlank({ role, content, toolCalls }: ChatMessage): boolean {
  return role !== 'tool' && content.trim() === '' && !toolCalls?.length;
}
