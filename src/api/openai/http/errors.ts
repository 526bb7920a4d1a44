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

/** The status and body of an error. The engine's are known by their `code`, since bundles rename classes. */
export function describeError(error: unknown): { status: number; body: ErrorBody } {
  const { message = String(error), code, param = null } = (error ?? {}) as Partial<ApiError>;
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
