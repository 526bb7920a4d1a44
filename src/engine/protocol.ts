// All types that cross the worker boundary: ids, text, numbers and events. No buffers, no logits. Types only.

import type { AttentionName } from '../attention/attention';
import type { CachedModel } from '../storage/cache/cached_models';
import type { ChatMessage } from '../text/template/message';
import type { AttentionResult, ProductResult } from '../tune/results';
import type { TbtSummary } from './tbt';

export type { AttentionName, AttentionResult, CachedModel, ChatMessage, ProductResult };

export type BackendName = 'webgpu' | 'cpu';
export type KvType = 'f16' | 'f32';
export type ActivationType = 'f32' | 'q8';
/** The formats Q8_0 and Q4_0 of GGUF. */
export type QuantizedFormat = 'q8' | 'q4';

/**
 * The URL of a folder in Hugging Face layout or of a .gguf file; or `hf:owner/repo`, optionally with `@revision` and
 * then `/file.gguf` or `:Q4_K_M`; or dropped files.
 */
export type ModelLocation = string | File | File[];

export interface LoadOptions {
  /**
   * Tokens of context, limited by the model and by the GPU. Default: the longest that both allow within a share of
   * memory, and within the training context where a longer one changes RoPE (longrope, dynamic). A context shorter
   * than the model's is a warning.
   */
  contextLength?: number;
  /** `auto`, or the name of an attention sibling. A sibling that cannot run is an error, never replaced by another. */
  attention?: 'auto' | AttentionName;
  /** The type of keys and values in the cache. Default f16. */
  kvCache?: KvType;
  /**
   * The type of activations in products with a matrix of integers (any quantized one but Q2_K): signed bytes, or f32,
   * which is exact. `auto`: q8, but f32 on a software adapter and on the cpu. `q8` is an error if no matrix has
   * integers.
   */
  activations?: 'auto' | ActivationType;
  /** Quantizes matrices of F32, F16 or BF16 while they load. Others stay as they are. Default: none. */
  quantize?: QuantizedFormat;
  /** `auto`: webgpu, or without it the cpu and a warning. */
  backend?: 'auto' | BackendName;
  /**
   * `true` (default): keep the files of a URL in this browser and use the kept copy. A complete copy loads without the
   * network.
   * `'check'`: first ask for a newer version, a hub for its newest commit, another server for each file's version, and
   * fetch what changed. Kept bytes without a verified hash are compared with the server's once. Offline it behaves like
   * `true`.
   * `false`: keep nothing.
   */
  cache?: boolean | 'check';
  /**
   * SHA-256 in hex of the .gguf file, or of a folder's model.safetensors. A file with another hash is an error. Hubs
   * send the hash themselves, other servers may (Repr-Digest).
   */
  sha256?: string;
  /**
   * The address of the hub that `hf:` means, such as a mirror. It must serve
   * `/{owner}/{repo}/resolve/{revision}/{path}`, and may serve `/api/models/{owner}/{repo}/revision/{revision}`, which
   * names commit, files and hashes. Default https://huggingface.co.
   */
  hubUrl?: string;
}

export interface LoadProgress {
  stage: 'open' | 'weights' | 'compile' | 'ready';
  /** Bytes of the model that have arrived, and all its bytes (0 while unknown). */
  loadedBytes: number;
  totalBytes: number;
  /** The part of `loadedBytes` that comes from this browser's cache. Default 0. */
  cachedBytes?: number;
  bytesPerSecond: number | null;
  secondsLeft: number | null;
}

export interface GenerateOptions {
  /** The most tokens to generate. Default: to the end of the context. */
  maxTokens?: number;
  /** 0: greedy. Default 0.6. */
  temperature?: number;
  /** 0: off. Default 40. */
  topK?: number;
  /** 1: off. Default 0.9. */
  topP?: number;
  /** 0: off. Default 0.05. */
  minP?: number;
  /** 1: off. Default 1. */
  repetitionPenalty?: number;
  /** 32 bits. The same seed gives the same text. Default: a random one, reported in the `done` event. */
  seed?: number;
  /** The answer ends before the first of these strings. */
  stop?: readonly string[];
  /** Steps in flight on the GPU, the one being read included. Default `auto`. */
  runAhead?: 'auto' | number;
  /** Times each step by the GPU's clock, if it has one. The times are read once, after the answer. Default true. */
  gpuTimes?: boolean;
}

/** The input of a generation: a conversation for the chat template, or text as is. */
export type GenerateInput = { messages: readonly ChatMessage[] } | { prompt: string };

export type FinishReason = 'eos' | 'stop' | 'length' | 'context' | 'abort';

export interface Warning {
  code: string;
  message: string;
}

export type { TbtSummary };

export interface AttentionChoice {
  prefill: AttentionName | 'textbook';
  decode: AttentionName | 'textbook';
  reason: string;
}

/** One candidate of a tuning. Its `pass` is `prefill` or `decode` for attention, `product` for a matrix product. */
export type TuneResult = AttentionResult | ProductResult;

/** The results of a tuning, attention first, and the attention that runs from then on. */
export interface TuneOutcome {
  results: TuneResult[];
  attention: AttentionChoice;
  /** True if this browser keeps the winners for its next load. */
  stored: boolean;
}

/** `total` is an estimate, never below `done`. */
export type TuneMessage =
  | { type: 'result'; result: TuneResult; done: number; total: number }
  | ({ type: 'tuned' } & TuneOutcome);

/** The fastest read of this GPU's memory, in GB/s (1e9 bytes), and the clock that measured it. */
export interface Roofline {
  readGBps: number;
  clock: 'gpu' | 'cpu';
}

/** Counted at the WebGPU calls, per generated token; null on the cpu backend. */
export interface PerToken {
  dispatches: number;
  submits: number;
  /** Readbacks awaited by the CPU. */
  syncs: number;
  /** Bytes mapped for reading. */
  bytesRead: number;
}

export interface RunMetrics {
  attention: AttentionChoice;
  /** The time from the start of the request in the worker to its first token there. */
  ttftMs: number | null;
  /** The parts of `ttftMs`: text to ids, and the prompt on the GPU. */
  tokenizeMs: number;
  prefillMs: number;
  prefillTokensPerSecond: number | null;
  decodeTokensPerSecond: number | null;
  tbtMs: TbtSummary;
  /**
   * The GPU's own time of each decode step, numbered as in `tbtMs`. Null without a GPU clock, or with `gpuTimes:
   * false`.
   */
  gpuMs: TbtSummary | null;
  perToken: PerToken | null;
  runAhead: number;
  peakGpuBytes: number | null;
}

export interface Usage {
  promptTokens: number;
  /** Prompt tokens whose keys and values are still in the cache from the turn before. */
  cachedTokens: number;
  completionTokens: number;
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
  /** Pipelines compiled since the token before, if any. */
  pipelines?: number;
}

/** `text` of token and done events, appended in order, is the answer. */
export type EngineEvent =
  | { type: 'prefill'; done: number; total: number }
  | TokenEvent
  | { type: 'warning'; code: string; message: string }
  | {
      type: 'done';
      /** Text held back until now, because it could have become a longer character or a stop string. */
      text: string;
      finishReason: FinishReason;
      seed: number;
      promptIds: number[];
      usage: Usage;
      metrics: RunMetrics;
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
  attention: AttentionChoice;
  /** The attention that the load asked for: tuning cannot change one that was chosen by name. */
  askedAttention: 'auto' | AttentionName;
  hasChatTemplate: boolean;
  /** Bytes allocated once the model is ready. `activations` is everything but weights and cache. */
  gpuBytes: { weights: number; kvCache: number; activations: number } | null;
  /**
   * Bytes that a decode step must read: the weights as stored on the GPU, and keys and values for each earlier position
   * of the context. Null on the cpu backend.
   */
  bytesPerToken: { weights: number; kvPerPosition: number } | null;
  loadMs: { open: number; weights: number; compile: number };
  warnings: Warning[];
}

export interface GenerateRequest {
  input: GenerateInput;
  options: GenerateOptions;
}

/** One post through the port of a request: messages that belong together. A failure is the last message of all. */
export type PortMessages<Message> = readonly (Message | WorkerFailure)[];

export type LoadResult = { info: EngineInfo } | WorkerFailure;

/** Asks the page for a second worker that hashes the bytes sent through the port. False if there is none. */
export type StartHasher = (port: MessagePort) => Promise<boolean>;

export interface WorkerApi {
  /** Answers at once. The handshake that tells a live worker from a blocked one. */
  ping(): 'pong';
  /** Takes a Web Lock, which becomes free when the worker ends, and returns its name. Null where there are no locks. */
  holdLock(): Promise<string | null>;
  load(
    location: ModelLocation,
    options: LoadOptions,
    onProgress: (progress: LoadProgress) => unknown,
    startHasher: StartHasher,
  ): Promise<LoadResult>;
  cancelLoad(): void;
  /**
   * Posts `PortMessages<EngineEvent>`, the tokens of one readback together, `done` or a failure last. Any message back
   * asks the worker to stop.
   */
  generate(request: GenerateRequest, port: MessagePort): void;
  /** Posts `PortMessages<TuneMessage>`, `tuned` or a failure last. Any message back asks the worker to stop. */
  tune(port: MessagePort): void;
  /** Posts `PortMessages<Roofline>`, one message or a failure. Any message back asks the worker to stop. */
  roofline(port: MessagePort): void;
  /** Hashes the bytes sent through the port (storage/source/hash_port). For a worker of its own that loads no model. */
  hash(port: MessagePort): void;
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
}
