// Checks of conversations: a caller without types may pass anything that structured clone keeps, cycles included.

import { InvalidRequestError } from '../../errors';
import type { ChatMessage, ChatRequest, ChatSettings, Tool, ToolChoice } from '../../text/template/message';

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
  if (!Array.isArray(given) || given.length === 0) refuse('A chat needs at least one message, got none.');
  for (const [i, message] of given.entries()) checkMessage(message, i); // sees holes, too
  const messages = given as ChatMessage[];
  const { role, content, reasoning, toolCalls } = messages[messages.length - 1];
  if (continueLast !== undefined && typeof continueLast !== 'boolean') refuse('continueLast must be true or false.');
  if (continueLast && role !== 'assistant') {
    refuse(`continueLast needs a last message by the assistant, got one by ${role}.`);
  }
  const isEmpty = role !== 'tool' && content.trim() === '' && !reasoning?.trim() && !toolCalls?.length;
  if (isEmpty) refuse('The message is empty. Write at least one character.');
  return messages;
}

function checkMessage(message: unknown, i: number): void {
  const { role, content, reasoning, toolCalls, toolCallId } = fieldsOf(message);
  if (!ROLES.includes(role as string) || typeof content !== 'string') {
    refuse(`Message ${i} needs a role (${ROLES.join(', ')}) and text as its content.`);
  }
  if ((role === 'tool' && !isName(toolCallId)) || (role !== 'tool' && toolCallId !== undefined)) {
    refuse(
      `Message ${i} by ${role}: toolCallId names the call that a message by tool answers, and belongs to no other.`,
    );
  }
  if (role !== 'assistant' && (reasoning !== undefined || toolCalls !== undefined)) {
    refuse(`Message ${i} by ${role}: only messages by assistant have reasoning and toolCalls.`);
  }
  if (reasoning !== undefined && typeof reasoning !== 'string') refuse(`The reasoning of message ${i} must be text.`);
  if (toolCalls !== undefined && !(isList(toolCalls, MAX_TOOLS) && Array.from(toolCalls).every(isCall))) {
    refuse(`The toolCalls of message ${i} must be up to ${MAX_TOOLS} calls, each with id, name and arguments as text.`);
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
    refuse(`tools must be a list of up to ${MAX_TOOLS}, got ${Array.isArray(given) ? given.length : typeof given}.`);
  }
  const tools = plainJson(given, 'tools') as Tool[];
  const names = new Set<string>();
  for (const [i, tool] of tools.entries()) {
    const { name, description = '', parameters = {} } = fieldsOf(tool);
    if (typeof name !== 'string' || !TOOL_NAME.test(name) || names.has(name)) {
      refuse(`Tool ${i} needs a name of its own, of 1 to 64 letters, digits, dashes, dots and underscores.`);
    }
    names.add(name);
    if (typeof description !== 'string') refuse(`The description of tool ${name} must be text.`);
    if (!isObject(parameters)) refuse(`The parameters of tool ${name} must be a JSON Schema, an object.`);
  }
  return tools.length > 0 ? tools : undefined;
}

function checkToolChoice(choice: ToolChoice | undefined, tools: readonly Tool[] = []): void {
  if (choice === undefined || choice === 'auto' || choice === 'none') return;
  const { name } = fieldsOf(choice);
  if (choice !== 'required' && typeof name !== 'string') refuse('toolChoice must be auto, none, required or { name }.');
  const isThere = choice === 'required' ? tools.length > 0 : tools.some((tool) => tool.name === name);
  if (!isThere) refuse(`toolChoice asks for a tool that is not among the ${tools.length} given. Pass it in tools.`);
}

function checkArguments(given: unknown): ChatSettings['templateArguments'] {
  if (given === undefined) return undefined;
  if (!isObject(given)) refuse(`templateArguments must be an object, got ${typeof given}.`);
  const own = SET_BY_ENGINE.find((name) => Object.hasOwn(given, name));
  if (own !== undefined) refuse(`templateArguments must not have ${own}: the engine sets it.`);
  return plainJson(given, 'templateArguments') as Record<string, unknown>;
}

/** A copy of a value that JSON can write, without undefined members. A shared part counts each time it occurs. */
function plainJson(value: unknown, what: string): unknown {
  let size = 0;
  const visit = (part: unknown, depth: number): void => {
    size += typeof part === 'string' ? part.length + 1 : 1;
    if (size > MAX_JSON) refuse(`${what} hold more than ${MAX_JSON} characters and values. Shorten them.`);
    if (depth > MAX_DEPTH) refuse(`${what} are nested deeper than ${MAX_DEPTH} levels. Flatten them.`);
    if (Array.isArray(part)) {
      for (const item of part) visit(item, depth + 1);
    } else if (isObject(part)) {
      for (const [key, item] of Object.entries(part)) {
        size += key.length;
        if (item !== undefined) visit(item, depth + 1);
      }
    } else if (part !== null && !Number.isFinite(part) && !['string', 'boolean'].includes(typeof part)) {
      refuse(`${what} must be JSON, got a value of type ${typeof part} in them.`);
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

function refuse(message: string): never {
  throw new InvalidRequestError(message);
}
