// Errors in OpenAI's shape, and their statuses.

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

/** A known field that cannot be done here. `why` ends the sentence, and may name a remedy. */
export function unsupported(param: string, why: string): ApiError {
  return new ApiError(400, `${param} is not supported: ${why}.`, 'unsupported_parameter', param);
}

/** Statuses of the engine's errors by code. Any other is 500. */
const STATUSES = new Map([
  ['invalid-request', 400],
  ['context-overflow', 400],
  ['chat-template', 400],
  ['tokenizer', 400],
  ['unsupported-model', 400],
  ['gpu-memory', 507],
  ['device-lost', 503],
  ['worker', 503],
]);

/** Codes with a name of their own in OpenAI's interface. */
const CODES = new Map([['context-overflow', 'context_length_exceeded']]);

/** The status and body of an error. The engine's are known by their `code`, since bundles rename classes. */
export function describeError(error: unknown): { status: number; body: ErrorBody } {
  const { message, code } = error instanceof Error ? (error as Error & { code?: unknown }) : { message: String(error) };
  const engineCode = typeof code === 'string' ? code : null;
  const own = error instanceof ApiError ? error : null;
  const status = own?.status ?? STATUSES.get(engineCode ?? '') ?? 500;
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  const param = own?.param ?? null;
  return { status, body: { error: { message, type, param, code: CODES.get(engineCode ?? '') ?? engineCode } } };
}
