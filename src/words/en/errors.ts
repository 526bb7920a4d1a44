// Errors and warnings in English, by code: only those that a person reads better than the engine's own sentence. This
// is the source of the types: the other languages have a sentence for each code.

const fetchFailed = ({ host, status, message = 'The model couldn’t be loaded.' }: Facts): string => {
  if (!host) return message; // files of this machine, or a name: it says what is missing
  if (status === undefined) return `Couldn’t reach ${host}. Check the connection and the address.`;
  if (status === '206') return `${host} sent only a part of the model, or something else. Check the address.`;
  if (/^[23]/.test(status)) return 'There is no model at this address.';
  if (/^4(04|10)$/.test(status)) return `${host} doesn’t have this model. Check the address.`;
  if (/^40[13]$/.test(status)) return `${host} doesn’t give out this model. It may be private or gated.`;
  return `${host} answered with error ${status}.`;
};

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
  promptTokens?: string;
  contextLength?: string;
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

export const errors: { errors: Partial<ErrorWords['errors']>; warnings: Partial<ErrorWords['warnings']> } = {
  errors: {
    'context-overflow': ({ promptTokens, contextLength }) =>
      promptTokens && contextLength
        ? `The conversation has ${promptTokens} tokens, but the model’s memory holds ${contextLength}.`
        : 'The conversation is too long for the model’s memory.',
    'model-fetch': fetchFailed,
  },
  warnings: {
    'server-option': () => 'This server does not know some of the settings; they are left out.',
    'webgpu-unavailable': () =>
      'No GPU available, so this runs on the CPU, which is slower. For full speed, turn on hardware acceleration in your browser.',
  },
};
