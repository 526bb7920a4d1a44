// Every error that Vivace throws on purpose: a class, a stable `code`, and a sentence with the violated number and a
// remedy. Imports nothing, so that every room may use it.

/** Longest message in characters. Messages may quote untrusted files. */
const MAX_MESSAGE = 1000;

/** Codes of errors that repeat until the request, the model or the browser changes. */
const LASTING = new Set([
  'invalid-request',
  'context-overflow',
  'unsupported-model',
  'tokenizer',
  'chat-template',
  'constraint',
  'not-finite',
  'attention-unavailable',
  'webgpu-unavailable',
  'gpu-program',
]);

/** Codes of errors that may pass. */
const PASSING = new Set(['model-fetch', 'model-file', 'gpu-memory', 'memory', 'device-lost', 'worker']);

/** `model-file` is a `ModelFileError`. The name of a class comes from its code, since a bundle renames the classes. */
function nameOf(code: string): string {
  const name = code.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
  return `${name.replace('Webgpu', 'WebGpu')}Error`;
}

/** Base of all typed errors. `code` is stable and machine readable; `message` is a sentence for people. */
export class VivaceError extends Error {
  readonly code: string;
  /** True if a repeated call may succeed, on a newly loaded engine where this one is lost (`Engine.lost`). */
  readonly canRetry: boolean;

  constructor(code: string, message: string, options: ErrorOptions & { canRetry?: boolean } = {}) {
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message, options);
    this.name = LASTING.has(code) || PASSING.has(code) ? nameOf(code) : 'VivaceError';
    this.code = code;
    this.canRetry = options.canRetry ?? !LASTING.has(code);
  }
}

/**
 * A request that cannot run: an empty prompt, a temperature below zero, a malformed message.
 * @remedy Correct what the message names.
 */
export class InvalidRequestError extends VivaceError {
  /** The option or the argument at fault, such as `logitBias` or `messages`, or null where it is none of them alone. */
  readonly option: string | null;

  constructor(message: string, option: string | null = null) {
    super('invalid-request', message);
    this.option = option;
  }
}

/**
 * A prompt or a text to embed that does not fit the context. The conversation is kept.
 * @remedy Shorten the conversation, or load the model with a larger `contextLength`.
 */
export class ContextOverflowError extends VivaceError {
  readonly promptTokens: number;
  readonly contextLength: number;

  /** @param text the number of a text to embed, from 0 */
  constructor(promptTokens: number, contextLength: number, text?: number) {
    super(
      'context-overflow',
      text === undefined
        ? `The prompt has ${promptTokens} tokens, but the context holds ${contextLength} and the answer needs at least one. ` +
            'Shorten the prompt, start a new conversation, or load the model with a larger context.'
        : `Text ${text} has ${promptTokens} tokens, but the context holds ${contextLength}. ` +
            'Split the text, or load the model with a larger context.',
    );
    this.promptTokens = promptTokens;
    this.contextLength = contextLength;
  }
}

/** Statuses below 500 that may pass: timeout, too early, too many requests. */
const PASSING_STATUSES = [408, 425, 429];

/**
 * A model file that could not be fetched: an unsuccessful status, a page of HTML, a broken connection.
 * @remedy Check the address and the network. A later load fetches only what is missing.
 */
export class ModelFetchError extends VivaceError {
  readonly url: string;
  readonly status: number | null;

  constructor(url: string, status: number | null, message: string) {
    const refused = status !== null && status >= 400 && status < 500 && !PASSING_STATUSES.includes(status);
    super('model-fetch', message, { canRetry: !refused });
    this.url = url;
    this.status = status;
  }
}

/**
 * A damaged or hostile model file: truncated, overlapping, out of range, contradicting its header.
 * @remedy Load the file again, or another one.
 */
export class ModelFileError extends VivaceError {
  readonly file: string;
  /** The tensor with a NaN or an infinity, which a load with `debug` finds. */
  readonly tensor: string | null;

  constructor(file: string, message: string, tensor: string | null = null) {
    super('model-file', `${file}: ${message}`);
    this.file = file;
    this.tensor = tensor;
  }
}

/**
 * A well-formed model of a kind that this engine does not run.
 * @remedy Load a model of [these kinds](models.md).
 */
export class UnsupportedModelError extends VivaceError {
  constructor(message: string) {
    super('unsupported-model', message);
  }
}

/**
 * An unusable tokenizer.json or GGUF vocabulary.
 * @remedy Load another file of the model.
 */
export class TokenizerError extends VivaceError {
  constructor(message: string, options?: ErrorOptions) {
    super('tokenizer', message, options);
  }
}

/**
 * A chat template that threw, ran out of fuel, or produced too much text.
 * @remedy Change the messages, or call `complete` with a prompt of your own.
 */
export class ChatTemplateError extends VivaceError {
  constructor(message: string, options?: ErrorOptions) {
    super('chat-template', message, options);
  }
}

/**
 * A JSON schema, regular expression or grammar that cannot be enforced, or that would take too much.
 * @remedy Change what `where` names.
 */
export class ConstraintError extends VivaceError {
  /** The place in the schema (a JSON pointer such as `#/properties/age`), or the rule of the grammar. */
  readonly where: string;
  /** The keyword of the schema that is not enforced, where that is the reason. */
  readonly keyword: string | null;

  /** @param message a sentence that names the place */
  constructor(where: string, message: string, keyword: string | null = null) {
    super('constraint', message);
    this.where = where;
    this.keyword = keyword;
  }
}

/**
 * Logits that are NaN, infinite or all equal, so that no next token can be chosen.
 * @remedy Load with `debug: true`, which names the damaged tensor, or with `activations: 'f32'` and `kvCache: 'f32'`.
 */
export class NotFiniteError extends VivaceError {
  /** The position in the context without a token. */
  readonly position: number;
  /** The first layer and operation whose numbers are not finite, or null where they were not searched or not found. */
  readonly where: string | null;

  constructor(position: number, where: string | null = null) {
    super(
      'not-finite',
      `The model computed no usable number (NaN, infinity, or the same for all tokens) for position ${position}` +
        `${where === null ? '' : `, first in ${where}`}. Its file is damaged, or its numbers are too large for the format: ` +
        'load it with the option debug to check its tensors, load another file, or the same one with kvCache f32 or ' +
        'activations f32.',
    );
    this.position = position;
    this.where = where;
  }
}

/**
 * An attention kernel that was forced by name but cannot run here.
 * @remedy Load with `attention: 'auto'`.
 */
export class AttentionUnavailable extends VivaceError {
  /** A fragment of a sentence, without the kernel's name. */
  readonly reason: string;

  constructor(name: string, reason: string) {
    super('attention-unavailable', `Attention "${name}" cannot run here: ${reason}. Use "auto" or another sibling.`);
    this.name = 'AttentionUnavailable';
    this.reason = reason;
  }
}

/**
 * No WebGPU adapter, an adapter that refused a device, or a page from `http:` on another computer.
 * @remedy Use a current Chrome, Edge or Firefox with hardware acceleration, or `backend: 'cpu'`. Serve the page from
 * `https:`.
 */
export class WebGpuUnavailableError extends VivaceError {
  constructor(reason: string) {
    super(
      'webgpu-unavailable',
      `WebGPU cannot be used here: ${reason}. Use a current Chrome, Edge or Firefox with hardware acceleration, or the cpu backend.`,
    );
  }
}

/**
 * GPU memory was refused, or a tensor exceeds the largest binding.
 * @remedy Load with a smaller `contextLength`, `quantize: 'q4'` or a smaller model, or close other pages.
 */
export class GpuMemoryError extends VivaceError {
  readonly requestedBytes: number;
  /** A limit of the GPU, or the bytes that it granted before it refused; null where neither is known. */
  readonly grantedBytes: number | null;
  /** Bytes in use before the request, where they matter. */
  readonly usedBytes: number | null;

  /** @param canRetry other pages may free memory; a limit stays */
  constructor(
    what: string,
    requestedBytes: number,
    grantedBytes: number | null,
    remedy: string,
    { usedBytes = null, canRetry = grantedBytes === null }: { usedBytes?: number | null; canRetry?: boolean } = {},
  ) {
    const used = usedBytes === null ? '' : ` beside the ${usedBytes} in use`;
    const granted = grantedBytes === null ? 'the GPU refused it' : `this GPU grants ${grantedBytes}`;
    super('gpu-memory', `${what} needs ${requestedBytes} bytes${used}; ${granted}. ${remedy}`, { canRetry });
    this.requestedBytes = requestedBytes;
    this.grantedBytes = grantedBytes;
    this.usedBytes = usedBytes;
  }
}

/**
 * The memory of the tab was refused, or more would be needed than a tab has.
 * @remedy Close other tabs, or load a smaller model.
 */
export class MemoryError extends VivaceError {
  readonly requestedBytes: number;

  /** @param limit the most that is allowed, or null where the browser refused */
  constructor(what: string, requestedBytes: number, limit: number | null, remedy: string) {
    const refusal = limit === null ? 'this browser has no memory left' : `at most ${limit} are allowed`;
    super('memory', `${what} needs ${requestedBytes} bytes; ${refusal}. ${remedy}`, { canRetry: limit === null });
    this.requestedBytes = requestedBytes;
  }
}

/**
 * The GPU device was lost while in use.
 * @remedy Load the model again: the engine tried, and gave up.
 */
export class DeviceLostError extends VivaceError {
  constructor(reason: string) {
    super('device-lost', `The GPU device was lost (${reason}).`);
  }
}

/**
 * A refused shader or an invalid command: a defect of the engine or the driver.
 * @remedy Update the browser and the driver. Please report it.
 */
export class GpuProgramError extends VivaceError {
  constructor(label: string, message: string) {
    super('gpu-program', `${label}: ${message}`);
  }
}

/**
 * The engine's worker died, failed to start, or does not answer.
 * @remedy Load the model again.
 */
export class WorkerError extends VivaceError {
  constructor(message: string, options?: { canRetry?: boolean }) {
    super('worker', message, options);
  }
}
