// Errors and warnings in English, by code: only those that a person reads better than the engine's own sentence. This
// is the source of the types: the other languages have a sentence for each code.

/** The codes of errors that a person may see. */
type ErrorCode =
  | 'invalid-request'
  | 'context-overflow'
  | 'model-fetch'
  | 'model-file'
  | 'unsupported-model'
  | 'tokenizer'
  | 'chat-template'
  | 'constraint'
  | 'not-finite'
  | 'attention-unavailable'
  | 'webgpu-unavailable'
  | 'gpu-memory'
  | 'memory'
  | 'device-lost'
  | 'gpu-program'
  | 'worker'
  | 'tab-gone'
  | 'conversation-file'
  | 'file-cut'
  // The format of a file that was imported in the wrong place.
  | 'vivace-run'
  | 'vivace-conversations'
  | 'conversation-version'
  | 'conversation-size'
  | 'conversation-deleted'
  | 'conversation-too-large'
  | 'conversations-full'
  | 'conversations-refused'
  | 'run-file'
  | 'server-unreachable'
  | 'server-key'
  | 'server-busy'
  | 'server-failed'
  | 'server-answer'
  | 'server-model'
  | 'server-silent'
  | 'server-cut';

/**
 * The codes of warnings, and of what the page's address asks for in vain. Those of a loss come with a model that was
 * loaded again.
 */
type WarningCode =
  | 'chats-not-kept'
  | 'context-shortened'
  | 'fetched-again'
  | 'sha256-unverified'
  | 'attention-fallback'
  | 'attention-drifted'
  | 'step-gave-up'
  | 'race-failed'
  | 'quantize-ignored'
  | 'quantization-chosen'
  | 'end-token'
  | 'constraint'
  | 'cache-full'
  | 'storage-hangs'
  | 'storage-refused'
  | 'server-clear'
  | 'server-option'
  | 'server-no-call'
  | 'address-value'
  | 'address-model'
  | 'webgpu-unavailable'
  | 'gpu-memory'
  | 'device-lost'
  | 'gpu-program'
  | 'worker';

/** The names and numbers of a sentence, formatted for the language. Each may be missing. */
export interface Facts {
  name?: string;
  value?: string;
  id?: string;
  vocabSize?: string;
  promptTokens?: string;
  contextLength?: string;
  characters?: string;
  messageCharacters?: string;
  mostCharacters?: string;
  asked?: string;
  requestedBytes?: string;
  grantedBytes?: string;
  keptBytes?: string;
  conversation?: string;
  turn?: string;
  file?: string;
  host?: string;
  status?: string;
  chosen?: string;
  choices?: string;
  seconds?: string;
  /** The error's own English sentence. */
  message?: string;
}

type Texts<Code extends string> = Readonly<Record<Code, (facts: Facts) => string>>;

/** The sentences of a language. */
export interface ErrorWords {
  errors: Texts<ErrorCode>;
  warnings: Texts<WarningCode>;
}

/** True for the sentence of a file that ends too early. */
export function isTruncated(message?: string): boolean {
  return !!message?.includes(' is truncated: ');
}

/** The number of models to choose from, in the sentence of a folder or a repository with several; else ''. */
export function modelsIn(message = ''): string {
  return / holds (\d+) (?:models|quantizations)\b/.exec(message)?.[1] ?? '';
}

/** True for the sentence of a repository without the quantization that was asked for. */
export function lacksQuantization(message = ''): boolean {
  return message.includes(': has no quantization ');
}

export const errors: { errors: Partial<ErrorWords['errors']>; warnings: Partial<ErrorWords['warnings']> } = {
  errors: {
    'context-overflow': ({ promptTokens, contextLength }) =>
      promptTokens && contextLength
        ? `The conversation has ${promptTokens} tokens, but the model’s memory holds ${contextLength}.`
        : 'The conversation is too long for the model’s memory.',
    // Files of this machine say themselves what is missing.
    'model-fetch': ({ host, message = 'No model.' }) =>
      host ? `No model came from ${host}. Check address and connection.` : message,
    'model-file': ({ file, message = 'No model.' }) =>
      isTruncated(message) ? `“${file}” is incomplete. Download it again.` : message,
  },
  warnings: {
    'server-option': () => 'This server does not know some settings; they are left out.',
    'webgpu-unavailable': () =>
      globalThis.isSecureContext === false
        ? 'WebGPU needs https or localhost, so this runs on the CPU, slower.'
        : 'No GPU available, so this runs on the CPU, slower. Turn on hardware acceleration in your browser.',
  },
};
