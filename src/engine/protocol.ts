// All types that cross the worker boundary: ids, text, numbers, vectors of texts and events. No buffers of the GPU, no
// logits. Types only.

import type { AttentionName } from '../attention/attention';
import type { Automaton } from '../grammar/automaton';
import type { Constraint } from '../grammar/constraint';
import type { Arithmetic, MatrixChoice } from '../model/layers/arithmetic';
import type { StepChoice } from '../model/step/step_choice';
import type { CachedModel } from '../storage/cache/cached_models';
import type { AnswerForm } from '../text/answer/answer_form';
import type { AnswerPart } from '../text/answer/answer_part';
import type { ChatMessage, ChatSettings, Tool, ToolCall, ToolChoice } from '../text/template/message';
import type { AttentionResult, ProductResult, Race } from '../tune/results';
import type { GENERATE_OPTIONS, Given, LOAD_OPTIONS, Value } from './options';
import type { TbtSummary } from './tbt';

export type {
  AnswerPart,
  AttentionName,
  AttentionResult,
  CachedModel,
  ChatMessage,
  ChatSettings,
  ProductResult,
  StepChoice,
  Tool,
  ToolCall,
  ToolChoice,
};

/** The values of a load option, apart from those that leave a choice to the engine. */
type Choice<K extends keyof typeof LOAD_OPTIONS> = Exclude<Value<(typeof LOAD_OPTIONS)[K]>, 'auto' | 'none'>;

/** `remote`: a server somewhere else (vivace/remote). */
export type BackendName = Choice<'backend'> | 'remote';
export type KvType = Choice<'kvCache'>;
export type ActivationType = Choice<'activations'>;
/** The formats Q8_0 and Q4_0 of GGUF. */
export type QuantizedFormat = Choice<'quantize'>;

/**
 * The URL of a folder in Hugging Face layout or of a .gguf file; or `hf:owner/repo`, optionally with `@revision` and
 * then `/file.gguf` or `:Q4_K_M`; or dropped files.
 */
export type ModelLocation = string | File | File[];

/** The options of a load. Their ranges, defaults and words stand in options.ts. */
export interface LoadOptions extends Given<typeof LOAD_OPTIONS> {}

export interface LoadProgress {
  stage: 'open' | 'weights' | 'compile' | 'ready';
  /** Bytes of the model that have arrived. */
  loadedBytes: number;
  /** All bytes of the model, or 0 while unknown. */
  totalBytes: number;
  /** The part of `loadedBytes` that comes from this browser's cache. Default 0. */
  cachedBytes?: number;
  bytesPerSecond: number | null;
  secondsLeft: number | null;
  /** Milliseconds of waiting, so far, for another tab that loads the same model. Absent while nothing waits. */
  waitsMs?: number;
}

export type { Constraint };

/** The options of one answer. */
export interface GenerateOptions extends Given<typeof GENERATE_OPTIONS> {}

/** The input of a generation: a conversation for the chat template, text as is, or ids. */
export type GenerateInput =
  | ({ messages: readonly ChatMessage[] } & ChatSettings)
  | { prompt: string }
  | { ids: readonly number[] };

/** `tool-calls`: the answer ended, and tools were called. */
export type FinishReason = 'eos' | 'stop' | 'length' | 'context' | 'abort' | 'tool-calls';

export interface Warning {
  code: string;
  message: string;
  /** The numbers and names of the message, for those who write it in another language. */
  facts?: Readonly<Record<string, number | string>>;
}

export type { TbtSummary };

export interface AttentionChoice {
  prefill: AttentionName | 'textbook';
  decode: AttentionName | 'textbook';
  reason: string;
}

/**
 * The format in which each kind of pass multiplies with matrices of integers: signed bytes (q8), or f32, which is
 * exact.
 * - `asked`: by name. `raced`: this load measured it on this GPU; `kept`: an earlier one did.
 * - `software`, `plain`, `cpu`: nothing to race on this adapter, with this model, or on this backend.
 * - `failed`: the race brought no result, for `reason`.
 */
export interface ArithmeticChoice extends Arithmetic {
  cause: 'asked' | 'raced' | 'kept' | 'software' | 'plain' | 'cpu' | 'failed';
  reason: string;
  /** The figures of the race, or null without one. */
  race: Race | null;
  /** Whether long passes multiply on subgroup matrices, and why. Absent where the browser grants none. */
  matrices?: MatrixChoice;
}

/** One candidate of a tuning. Its `pass` is `prefill` or `decode` for attention, `product` for a matrix product. */
export type TuneResult = AttentionResult | ProductResult;

/** The results of a tuning, attention first, and the attention and step that run from then on. */
export interface TuneOutcome {
  results: TuneResult[];
  attention: AttentionChoice;
  step: StepChoice;
  /** True if this browser keeps the winners for its next load. */
  stored: boolean;
}

/** `total` is an estimate, never below `done`. */
export type TuneMessage =
  | { type: 'result'; result: TuneResult; done: number; total: number }
  | ({ type: 'tuned' } & TuneOutcome);

/** The options of an embedding. */
export interface EmbedOptions {
  /** Size of the vectors: the first numbers of the model's own, for models trained for it. Default: all. */
  dimensions?: number;
}

export interface Embeddings {
  /** The vector of each text, in the order of the texts. */
  vectors: Float32Array[];
  /** The tokens of all texts together. */
  promptTokens: number;
}

/** The fastest read of this GPU's memory, in GB/s (1e9 bytes), and the clock that measured it. */
export interface Roofline {
  readGBps: number;
  clock: 'gpu' | 'cpu';
}

/**
 * Counted at the WebGPU calls, as a mean of all decode steps, also of those that gave up or were dropped behind one.
 * Null on the cpu backend.
 */
export interface PerToken {
  dispatches: number;
  submits: number;
  /** Readbacks awaited by the CPU. */
  syncs: number;
  /** Bytes mapped for reading. */
  bytesRead: number;
}

/**
 * Where the cached tokens of a prompt came from: still in the cache, or copied back from a conversation that was kept
 * beside it. Or why a longer beginning, once known, is computed again: given up for the budget, refused memory, dropped
 * after a fault of the GPU, or not asked for. `stored`: read from this browser's storage. `new`: no known conversation
 * begins like this.
 */
export type CacheReport = 'live' | 'parked' | 'stored' | 'new' | 'evicted' | 'refused' | 'cleared' | 'off';

export interface RunMetrics {
  /** The conversations kept beside the cache after the answer's beginning, and their bytes. Absent in older runs. */
  cache?: { report: CacheReport; branches: number; bytes: number };
  attention: AttentionChoice;
  step: StepChoice;
  /** The time from the start of the request in the worker to its first token there. */
  ttftMs: number | null;
  /** The parts of `ttftMs`: text to ids, and the prompt on the GPU. */
  tokenizeMs: number;
  prefillMs: number;
  prefillTokensPerSecond: number | null;
  decodeTokensPerSecond: number | null;
  tbtMs: TbtSummary;
  /**
   * The GPU's own time of each decode step, numbered as in `tbtMs`: the whole step, also where it ran for several
   * requests. Absent until the event `gpuTimes` brings it. Null without a GPU clock.
   */
  gpuMs?: TbtSummary | null;
  perToken: PerToken | null;
  runAhead: number;
  peakGpuBytes: number | null;
  /** The time in which other requests ran, of this one's own. Absent where none did. */
  othersMs?: number;
  /** The most requests that one decode step ran for. Absent where each step was of this request alone. */
  batchSize?: number;
  /** The network's share of an answer from a server. The times above are then those of arrival here. */
  network?: NetworkMetrics;
}

/** The times of an answer from a server, parted into the server's own and the rest. */
export interface NetworkMetrics {
  /** Requests until the server was not too busy, and the time until it accepted the last of them. */
  tries: number;
  acceptedMs: number;
  /** Chunks with tokens, the tokens of each, and the gaps between them. */
  chunks: number;
  tokensPerChunk: number | null;
  chunkMs: TbtSummary;
  /** The server's own times: of the prompt, and from token to token. Null where it tells none. */
  server: { promptMs: number; tokenMs: number | null } | null;
  /** The rest, of the network and of queues: of the first token, from the accepted request on, and of a mean gap. */
  beyondServer: { ttftMs: number; tokenMs: number | null } | null;
}

export interface Usage {
  promptTokens: number;
  /** Prompt tokens whose keys and values are there from earlier requests: in the cache, or kept beside it. */
  cachedTokens: number;
  /** Cached tokens that were read from this browser's storage. Absent if there are none. */
  storedTokens?: number;
  completionTokens: number;
  /** Tokens of the completion that are thinking. */
  reasoningTokens: number;
}

/** A token and the logarithm of its probability under softmax(logits), before penalties, biases and filters. */
export interface TokenLogprob {
  id: number;
  /** For display. Half a character shows as U+FFFD, a control token by its name. */
  token: string;
  /** UTF-8. Empty for a control token. */
  bytes: readonly number[];
  logprob: number;
}

/** A token with its stages, in milliseconds of the worker's clock. */
export interface TokenEvent {
  type: 'token';
  id: number;
  text: string;
  /** The time since the arrival of the token before. Null for the first. */
  tbtMs: number | null;
  position: number;
  /** The moment of arrival in the worker, since the epoch of 1970, so that a page can compare it with its own clock. */
  atMs: number;
  /**
   * The time from the recording of the token's step to its arrival. The first token's time starts at the end of
   * tokenizing.
   */
  inFlightMs: number;
  /**
   * The worker thread's share of `tbtMs`: recording steps, decoding text, posting, garbage collection. Null for the
   * first.
   */
  workerMs: number | null;
  /** The part of `tbtMs` in which other requests ran, if any did. */
  othersMs?: number;
  /** Pipelines compiled since the token before, if any. */
  pipelines?: number;
  /** The token's own log probability and the likeliest tokens, most probable first. Needs the option `logprobs`. */
  logprobs?: { chosen: TokenLogprob; top: readonly TokenLogprob[] };
}

/**
 * `text` of token and done events, appended in order, is the answer, and `text` of reasoning events is the thinking
 * before it. An event of thinking or of a call follows the token event that completed its text. `done` comes with the
 * last token and ends the events, unless the option `gpuTimes` asks for one more: a readback later, `gpuTimes`
 * completes the metrics of `done`. With the option `n`, each answer runs from `start` to its own end.
 */
/** The place that computes an answer: this machine, or a server. */
export type Place = 'local' | 'remote';

export type EngineEvent =
  /**
   * The request waits for others, before `start`: as many run as may (`maxConcurrent`) or one that nothing runs beside,
   * or there is no memory to run beside the one that does. Requests that take turns wait for a turn without it.
   */
  | { type: 'queued'; reason: 'busy' | 'memory' }
  /** The answer begins, with the ids of its prompt. */
  | {
      type: 'start';
      /** The number of the answer, from 0. */
      choice: number;
      promptIds: number[];
      /** Prompt tokens whose keys and values are there from earlier requests. */
      cachedTokens: number;
    }
  /** `done` of `total` prompt tokens have gone through the model. */
  | { type: 'prefill'; done: number; total: number }
  | TokenEvent
  | AnswerPart
  /** Something is done otherwise than asked for. */
  | { type: 'warning'; code: string; message: string }
  /**
   * The worker or its GPU was lost, and the model loads again. `recovered` follows, and then the rest of the answer, or
   * the error that ends it. `code` is that of the loss. Further losses until `recovered` are part of the same pause.
   */
  | { type: 'interrupted'; code: string; message: string }
  /** The answer goes on where it stopped, `pauseMs` after `interrupted`. Comes alone when it moves back to the GPU. */
  | { type: 'recovered'; message: string; backend: BackendName; pauseMs: number }
  /** An engine with several places computes what follows at this one, with a model of this info. */
  | { type: 'place'; place: Place; info: EngineInfo }
  /** The end of an answer. */
  | {
      type: 'done';
      /** Text held back until now, because it could have become a longer character, a stop string or a marker. */
      text: string;
      finishReason: FinishReason;
      seed: number;
      usage: Usage;
      metrics: RunMetrics;
    }
  /**
   * The GPU's own times of the steps, which also stand in the metrics from now on. Null without a GPU clock.
   */
  | { type: 'gpuTimes'; gpuMs: TbtSummary | null };

/** `optional`: the chat template can switch thinking on and off. */
export type ThinkingAbility = 'none' | 'optional' | 'always';

/** Suggestions of the model's makers. The engine's own defaults stay as they are documented. */
export type SamplingDefaults = {
  [Key in 'temperature' | 'topK' | 'topP' | 'minP' | 'repetitionPenalty']?: number;
};

export interface EngineInfo {
  model: {
    name: string;
    architecture: string;
    parameters: number;
    nLayers: number;
    hiddenSize: number;
    nHeads: number;
    nKvHeads: number;
    headDim: number;
    vocabSize: number;
    /** The formats in the file, such as 'Q8_0 + F32', or 'F16, quantized to Q4_0'. */
    format: string;
    fileBytes: number;
  };
  backend: BackendName;
  adapter: string | null;
  contextLength: number;
  kvCache: KvType;
  /** `q8` if any product runs on q8 activations. */
  activations: ActivationType;
  /** The same for each kind of pass, with the reason. Absent in documents of earlier versions. */
  arithmetic?: ArithmeticChoice;
  attention: AttentionChoice;
  /** The attention that the load asked for: tuning cannot change one that was chosen by name. */
  askedAttention: 'auto' | AttentionName;
  step: StepChoice;
  hasChatTemplate: boolean;
  /** True if the chat template takes tools and shows calls in a syntax that can be read back. */
  tools: boolean;
  thinking: ThinkingAbility;
  /** The vector of a text: of its last token or the mean of all, and its size. `only`: the model writes no text. */
  embeddings: { pooling: 'last' | 'mean'; size: number; only: boolean };
  /** Bytes allocated once the model is ready. `activations` is everything but weights and cache. */
  gpuBytes: { weights: number; kvCache: number; activations: number } | null;
  /**
   * Bytes that a decode step must read: the weights as stored on the GPU, and keys and values for each earlier position
   * of the context; of layers with a window, for each of the last `positions`. Null on the cpu backend.
   */
  bytesPerToken: {
    weights: number;
    kvPerPosition: number;
    /** Absent in older runs. */
    kvInWindows?: { positions: number; perPosition: number }[];
  } | null;
  /** Most bytes of conversations that are kept beside the cache. Absent in older runs. */
  kvBudgetBytes?: number;
  /** Most requests that take turns: 1 without memory for conversations beside the cache. Absent in older runs. */
  maxConcurrent?: number;
  loadMs: { open: number; weights: number; compile: number };
  /**
   * What generation_config.json, or the metadata of a GGUF, suggests for sampling. Only values that the options allow.
   * An answer takes them only if they are passed as its options.
   */
  samplingDefaults?: SamplingDefaults;
  warnings: Warning[];
}

export interface GenerateRequest {
  input: GenerateInput;
  options: GenerateOptions;
  resumed?: ResumedAnswer;
  constraint?: AskedConstraint;
}

/** The option `constraint` and the tools as the page compiled them. */
export interface AskedConstraint {
  automaton: Automaton;
  /** All but calls is free. Where a call cannot be constrained, it is free, too. */
  onlyCalls: boolean;
}

/**
 * The ids of an answer that another worker began. Its prompt is `promptIds`, whatever `input` renders to by now. Its
 * events go on after the last of `ids`.
 */
export interface ResumedAnswer {
  promptIds: readonly number[];
  ids: readonly number[];
}

export interface EmbedRequest {
  texts: readonly string[];
  options: EmbedOptions;
}

/** The options of a count of tokens, apart from those of the conversation. */
export type TokenizeOptions = Pick<GenerateOptions, 'thinking'>;

/** One post through the port of a request: messages that belong together. A failure is the last message of all. */
export type PortMessages<Message> = readonly (Message | WorkerFailure)[];

export interface TokenizedInput {
  ids: Uint32Array;
}

/** Ids, or the reason why there are none. */
export type TokenizeResult = TokenizedInput | WorkerFailure;

/** `isKept`: this browser keeps all of the model's files. `form`: of the model's answers, with a chat template. */
export type LoadResult = { info: EngineInfo; form?: AnswerForm; isKept?: boolean } | WorkerFailure;

/** The work of a worker without a model for one that loads: hashing whole files, or working on pieces. */
export type ThreadTask = 'hash' | 'pieces';

/** Asks the page for a worker that does the task at the other end of the port. False if there is none. */
export type StartThread = (port: MessagePort, task: ThreadTask) => Promise<boolean>;

export interface WorkerApi {
  /** Answers at once. The handshake that tells a live worker from a blocked one. */
  ping(): 'pong';
  /** Takes a Web Lock, which becomes free when the worker ends, and returns its name. Null where there are no locks. */
  holdLock(): Promise<string | null>;
  load(
    location: ModelLocation,
    options: LoadOptions,
    onProgress: (progress: LoadProgress) => unknown,
    startThread: StartThread,
    before?: ArithmeticChoice,
  ): Promise<LoadResult>;
  cancelLoad(): void;
  /** Ends the waits of the load for other tabs, now and later. */
  goOnAlone(): void;
  /** True if the browser grants a GPU now. */
  hasGpu(): Promise<boolean>;
  /** Queues no steps until `pause(false)`: a phone's page is hidden. */
  pause(isPaused: boolean): void;
  /**
   * Posts `PortMessages<EngineEvent>`, the tokens of one readback together; `done`, `gpuTimes` if asked for, or a
   * failure last. Any message back asks the worker to stop.
   */
  generate(request: GenerateRequest, port: MessagePort): void;
  /** Answers at once, also while requests run. */
  tokenize(input: GenerateInput, options: TokenizeOptions): Promise<TokenizeResult>;
  /** Posts `PortMessages<Embeddings>`, one message or a failure. Any message back asks the worker to stop. */
  embed(request: EmbedRequest, port: MessagePort): void;
  /** Posts `PortMessages<TuneMessage>`, `tuned` or a failure last. Any message back asks the worker to stop. */
  tune(request: { options: object }, port: MessagePort): void;
  /** Posts `PortMessages<Roofline>`, one message or a failure. Any message back asks the worker to stop. */
  roofline(request: { options: object }, port: MessagePort): void;
  /** Hashes the bytes sent through the port (storage/source/hash_port). For a worker of its own that loads no model. */
  hash(port: MessagePort): void;
  /** Works on kept pieces, until the port says that no more come (storage/cache/piece_threads). For such a worker. */
  pieces(port: MessagePort): Promise<void>;
  /** Lists the models kept in this browser. */
  listCachedModels(): Promise<CachedModel[]>;
  deleteCachedModel(location: string): Promise<void>;
  unload(): Promise<void>;
}

/** An error as plain fields, which structured clone keeps. */
export interface WorkerFailure {
  type: 'error';
  name: string;
  code: string;
  message: string;
  details: Record<string, string | number | boolean | null>;
}

/** The worker's message, outside of any call, that its GPU is lost and that it answers no more. */
export interface LostMessage {
  lost: WorkerFailure;
  /** Bytes of conversations that were kept beside the cache. */
  parkedBytes?: number;
}

/**
 * The worker's message, outside of any call, that its thread may be silent for so many milliseconds, before work that
 * blocks it. 0: the work is done.
 */
export interface PatienceMessage {
  patienceMs: number;
}

/** The worker's message, outside of any call, that it needs a part. The page answers with its code. */
export interface PartMessage {
  part: string;
}
