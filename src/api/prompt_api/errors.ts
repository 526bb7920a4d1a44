// The errors of the Prompt API: DOMExceptions with the names of its specification.

/** Names by code of the engine's errors. Any other code is the name that the caller gives. */
const NAMES: Readonly<Record<string, string>> = {
  'model-fetch': 'NetworkError',
  'invalid-request': 'NotSupportedError',
  'chat-template': 'NotSupportedError',
  constraint: 'NotSupportedError',
  'unsupported-model': 'NotSupportedError',
};

type QuotaClass = new (message: string, numbers: { requested: number; quota: number }) => DOMException;

export function quotaExceeded(requested: number, quota: number): DOMException {
  const { QuotaExceededError: Native } = globalThis as { QuotaExceededError?: QuotaClass };
  const message = `The input needs ${requested} tokens and the context holds ${quota}. Shorten it.`;
  const numbers = { requested, quota };
  return Native
    ? new Native(message, numbers)
    : Object.assign(new DOMException(message, 'QuotaExceededError'), numbers);
}

export function notSupported(message: string): DOMException {
  return new DOMException(message, 'NotSupportedError');
}

/** An error of the engine as a DOMException, with the engine's own as its `cause`. Any other error is unchanged. */
export function asDomException(error: unknown, name = 'UnknownError'): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  const { promptTokens, contextLength } = error as { promptTokens?: number; contextLength?: number };
  const exception =
    error.code === 'context-overflow' && promptTokens !== undefined && contextLength !== undefined
      ? quotaExceeded(promptTokens, contextLength)
      : new DOMException(error.message, NAMES[error.code] ?? name);
  return Object.defineProperty(exception, 'cause', { value: error });
}

/** The promise's result, or the signal's reason if it aborts first. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    promise.catch(() => {}); // of no interest after an abort
  }
}
