// Calls of tools and their results: the values that pages make and read, and the text that the model reads.

import type { ToolCall } from '../../engine/protocol';
import { isJsonObject } from '../../shared/json_object';
import { notSupported } from './errors';
import type { LanguageModelTool, LanguageModelToolCall } from './types';

type Fields = Readonly<Record<string, unknown>>;

/** The part that calls, results and errors share. Chrome spells `callID`, the explainer `callId`: both are there. */
class CallPart {
  readonly callId: string;
  readonly name: string;

  constructor({ callId, callID, name }: Fields) {
    const id = callId ?? callID;
    if (id === undefined || name === undefined) throw new TypeError('A tool call needs callId and name.');
    this.callId = String(id);
    this.name = String(name);
  }

  get callID(): string {
    return this.callId;
  }
}

class ToolCallValue extends CallPart implements LanguageModelToolCall {
  readonly arguments: Fields;

  constructor(fields: Fields) {
    super(fields);
    this.arguments = (fields.arguments ?? {}) as Fields;
  }
}

class ToolSuccess extends CallPart {
  readonly result: unknown;

  constructor(fields: Fields) {
    super(fields);
    this.result = fields.result;
  }
}

class ToolError extends CallPart {
  readonly errorMessage: string;

  constructor(fields: Fields) {
    super(fields);
    this.errorMessage = String(fields.errorMessage);
  }
}

/** The classes of values that pages make, by their global names. */
export const VALUE_CLASSES = {
  LanguageModelToolCall: ToolCallValue,
  LanguageModelToolSuccess: ToolSuccess,
  LanguageModelToolError: ToolError,
};

/** A call of the model, for the page. Its arguments are valid: the engine has checked them. */
export function callForPage(call: ToolCall): LanguageModelToolCall {
  return new ToolCallValue({ callId: call.id, name: call.name, arguments: JSON.parse(call.arguments) });
}

/** @throws DataError for arguments that are no JSON object */
export function callFromPage(value: unknown): ToolCall {
  const fields = fieldsOf(value);
  const { callId, name } = new ToolCallValue(fields);
  const given = fields.arguments ?? {};
  if (!isJsonObject(given)) throw dataError('The arguments of a tool call must be an object.');
  return { id: callId, name, arguments: toJson(given) };
}

/** The id of the call that a page answers, and the text of its result or error. */
export function responseFromPage(value: unknown): { id: string; content: string } {
  const fields = fieldsOf(value);
  const { callId: id } = new CallPart(fields);
  if (fields.errorMessage !== undefined) return { id, content: `Error: ${fields.errorMessage}` };
  if (!Array.isArray(fields.result)) throw new TypeError('The result of a tool must be a list of parts.');
  return { id, content: fields.result.map(partText).join('\n') };
}

function partText(part: unknown): string {
  const { type, value } = fieldsOf(part);
  if (type === 'image' || type === 'audio') throw notSupported(`The model reads no ${type} in the result of a tool.`);
  if (type !== 'text' && type !== 'object') throw new TypeError(`A tool result has no part of type ${String(type)}.`);
  return typeof value === 'string' ? value : toJson(value);
}

/** Executes a call. An error of the tool is text for the model. */
export async function execute(tool: LanguageModelTool, call: ToolCall): Promise<string> {
  try {
    const result = await tool.execute?.(JSON.parse(call.arguments) as never);
    return typeof result === 'string' ? result : toJson(result ?? null);
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function fieldsOf(value: unknown): Fields {
  if (!isJsonObject(value)) throw new TypeError('A tool call or a tool result must be an object.');
  return value;
}

function toJson(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {} // a circle or a BigInt
  if (json === undefined) throw dataError('The value cannot be written as JSON.');
  return json;
}

function dataError(message: string): DOMException {
  return new DOMException(message, 'DataError');
}
