// Errors in OpenAI's shape, their statuses, and the fields that they name.

import type { JsonObject } from '../../../shared/json_object';

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** A request that is refused before it reaches an engine. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: string,
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

/** A value that a known field cannot have. */
export function invalid(param: string, why: string): ApiError {
  return new ApiError(400, `${param || 'The body'} ${why}.`, 'invalid_value', param || null);
}

/** A known field that cannot be done here. */
export function unsupported(param: string, why: string): ApiError {
  return new ApiError(400, `${param} is not supported here: ${why}.`, 'unsupported_parameter', param);
}

/** Statuses by the codes of the engine's errors. Any other is 500. */
const STATUSES: readonly [number, RegExp][] = [
  [400, /^(invalid-request|context-overflow|chat-template|constraint|tokenizer|unsupported-model)$/],
  [503, /^(device-lost|worker)$/],
  [507, /^(gpu-)?memory$/],
];

const CONVERSATION = ['messages', 'input', 'prompt'];

/** Errors of the engine that are about one of its options without saying so. */
const OPTIONS: Partial<Record<string, string>> = { 'context-overflow': 'messages', constraint: 'constraint' };

/** The fields for an option of the engine, where they have other names. */
const FIELDS: Partial<Record<string, readonly string[]>> = {
  messages: CONVERSATION,
  texts: ['input'],
  maxTokens: ['max_output_tokens', 'max_completion_tokens', 'max_tokens'],
  constraint: ['grammar', 'json_schema', 'response_format', 'text.format'],
  thinking: ['reasoning_effort', 'reasoning.effort'],
  templateArguments: ['chat_template_kwargs'],
  continueLast: ['continue_final_message'],
};

/** The field that gave the engine an option, or null where none did. */
function fieldOf(option: string, json: JsonObject): string | null {
  const names = FIELDS[option] ?? [option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
  return names.find((name) => (json[name.split('.')[0]] ?? '') !== '') ?? null;
}

/**
 * The status and body of an error. The engine's are known by their `code`, since bundles rename classes.
 * @param json the request, for the name of the field at fault
 */
export function describeError(error: unknown, json: JsonObject = {}): { status: number; body: ErrorBody } {
  const { message = String(error), code, ...named } = (error ?? {}) as Partial<ApiError> & { option?: string | null };
  const option = named.option ?? OPTIONS[code ?? ''];
  const param = named.param ?? (option ? fieldOf(option, json) : null);
  const name = typeof code === 'string' ? code : null;
  const known = STATUSES.find(([, codes]) => codes.test(name ?? ''));
  const status = error instanceof ApiError ? error.status : (known?.[0] ?? 500);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  // Clients look for these words, since some of them do not see the code.
  const overflow = { message: `The input exceeds the context window. ${message}`, code: 'context_length_exceeded' };
  return {
    status,
    body: { error: { message, type, param, code: name, ...(name === 'context-overflow' && overflow) } },
  };
}
