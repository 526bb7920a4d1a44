// Checks of conversations: a caller without types may pass anything that structured clone keeps, cycles included.

import { InvalidRequestError } from '../../../errors';
import type { ChatMessage, ChatRequest, ChatSettings, Tool, ToolChoice } from '../../../text/template/message';
import { MAX_TEXT_LENGTH } from '../../../text/tokenizer';

const ROLES = ['system', 'user', 'assistant', 'tool'];
const MAX_TOOLS = 128;
const TOOL_NAME = /^[\w.-]{1,64}$/;
/** Most characters and values of the tools, and of the template's arguments. */
const MAX_JSON = 1_000_000;
const MAX_DEPTH = 64;
/** Variables of a template that the engine sets. */
const SET_BY_ENGINE = ['messages', 'tools', 'add_generation_prompt', 'bos_token', 'eos_token'];

/** @throws InvalidRequestError */
export function checkChat(given: { messages: unknown } & ChatSettings): ChatRequest {
  const { continueLast, toolChoice } = given;
  const messages = checkMessages(given.messages, continueLast);
  const tools = checkTools(given.tools);
  checkToolChoice(toolChoice, tools);
  return { messages, tools, toolChoice, templateArguments: checkArguments(given.templateArguments), continueLast };
}

function checkMessages(given: unknown, continueLast: unknown): ChatMessage[] {
  if (!Array.isArray(given) || given.length === 0) {
    refuse(
      'messages',
      `A chat needs a list of at least one message, got ${Array.isArray(given) ? 'none' : typeof given}.`,
    );
  }
  for (const [i, message] of given.entries()) checkMessage(message, i); // sees holes, too
  const messages = given as ChatMessage[];
  const { role, content, reasoning, toolCalls } = messages[messages.length - 1];
  if (typeof continueLast === 'boolean' ? continueLast && role !== 'assistant' : continueLast !== undefined) {
    refuse(
      'continueLast',
      `continueLast must be true or false, and true only after a message by assistant, not by ${role}.`,
    );
  }
  const isEmpty = role !== 'tool' && content.trim() === '' && !reasoning?.trim() && !toolCalls?.length;
  if (isEmpty) refuse('messages', 'The message is empty. Write at least one character.');
  checkLength(messages);
  return messages;
}

/** Said here: the template and the tokenizer, which refuse it too, do not know of messages. */
function checkLength(messages: readonly ChatMessage[]): void {
  const lengths = messages.map(({ content }) => content.length);
  const characters = lengths.reduce((sum, length) => sum + length, 0);
  if (characters <= MAX_TEXT_LENGTH) return;
  const messageCharacters = lengths.reduce((most, length) => Math.max(most, length));
  const i = lengths.indexOf(messageCharacters);
  const error = new InvalidRequestError(
    `The conversation has ${characters} characters, ${messageCharacters} of them in message ${i} by ${messages[i].role}; ` +
      `at most ${MAX_TEXT_LENGTH} are read at once. Shorten this message, or send a part of it.`,
    'messages',
  );
  throw Object.assign(error, { characters, messageCharacters, mostCharacters: MAX_TEXT_LENGTH });
}

function checkMessage(message: unknown, i: number): void {
  const { role, content, reasoning = '', toolCalls = [], toolCallId } = fieldsOf(message);
  if (!ROLES.includes(role as string) || typeof content !== 'string') {
    refuse('messages', `Message ${i} needs a role (${ROLES.join(', ')}) and text as its content.`);
  }
  if (role === 'tool' ? !isName(toolCallId) : toolCallId !== undefined) {
    refuse('messages', `Message ${i} by ${role}: toolCallId is the id of a call, needed by tool and by no other role.`);
  }
  const areCalls = isList(toolCalls, MAX_TOOLS) && Array.from(toolCalls).every(isCall);
  const isAnswer = role === 'assistant' || (reasoning === '' && Array.isArray(toolCalls) && toolCalls.length === 0);
  if (!areCalls || typeof reasoning !== 'string' || !isAnswer) {
    refuse(
      'messages',
      `Message ${i} by ${role}: reasoning must be text, and toolCalls up to ${MAX_TOOLS} with id, name and arguments as text, both by assistant alone.`,
    );
  }
}

function isCall(call: unknown): boolean {
  const { id, name, arguments: given } = fieldsOf(call);
  return isName(id) && isName(name) && typeof given === 'string';
}

/** An empty list counts as none. */
function checkTools(given: unknown): readonly Tool[] | undefined {
  if (given === undefined) return undefined;
  if (!isList(given, MAX_TOOLS)) {
    refuse(
      'tools',
      `tools must be a list of up to ${MAX_TOOLS}, got ${Array.isArray(given) ? given.length : typeof given}.`,
    );
  }
  const tools = plainJson(given, 'tools') as Tool[];
  const names = new Set<unknown>();
  for (const [i, tool] of tools.entries()) {
    const { name, description = '', parameters = {} } = fieldsOf(tool);
    const isNamed = typeof name === 'string' && TOOL_NAME.test(name) && !names.has(name);
    if (!isNamed || typeof description !== 'string' || !isObject(parameters)) {
      refuse(
        'tools',
        `Tool ${i} needs a name of its own (1 to 64 letters, digits, dashes, dots and underscores), a description as text and parameters as an object.`,
      );
    }
    names.add(name);
  }
  return tools.length > 0 ? tools : undefined;
}

function checkToolChoice(choice: ToolChoice | undefined, tools: readonly Tool[] = []): void {
  if (choice === undefined || choice === 'auto' || choice === 'none') return;
  const { name } = fieldsOf(choice);
  if (choice === 'required' ? tools.length > 0 : tools.some((tool) => tool.name === name)) return;
  refuse('toolChoice', `toolChoice must be auto, none, or, of the ${tools.length} tools given, required or { name }.`);
}

function checkArguments(given: unknown): ChatSettings['templateArguments'] {
  if (given === undefined) return undefined;
  if (!isObject(given) || SET_BY_ENGINE.some((name) => Object.hasOwn(given, name))) {
    refuse(
      'templateArguments',
      `templateArguments must be an object without ${SET_BY_ENGINE.join(', ')}: the engine sets these.`,
    );
  }
  return plainJson(given, 'templateArguments') as Record<string, unknown>;
}

/** A copy of a value that JSON can write, without undefined members. A shared part counts each time it occurs. */
function plainJson(value: unknown, what: keyof ChatSettings): unknown {
  let size = 0;
  const visit = (part: unknown, depth: number): void => {
    size += typeof part === 'string' ? part.length + 1 : 1;
    const isPlain = part === null || Number.isFinite(part) || ['string', 'boolean'].includes(typeof part);
    const entries = Array.isArray(part) ? part.entries() : isObject(part) ? Object.entries(part) : null;
    if (size > MAX_JSON || depth > MAX_DEPTH || !(isPlain || entries)) {
      refuse(what, `${what} must be JSON of at most ${MAX_JSON} characters and values, and ${MAX_DEPTH} levels deep.`);
    }
    for (const [key, item] of entries ?? []) {
      if (typeof key === 'string') size += key.length;
      if (item !== undefined || typeof key === 'number') visit(item, depth + 1);
    }
  };
  visit(value, 0);
  return JSON.parse(JSON.stringify(value));
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isList(value: unknown, most: number): value is unknown[] {
  return Array.isArray(value) && value.length <= most;
}

/** True for objects as JSON has them: no lists, maps or dates. */
function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function refuse(option: keyof ChatSettings | 'messages', message: string): never {
  throw new InvalidRequestError(message, option);
}
