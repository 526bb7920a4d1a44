// Everything that crosses the worker boundary, and nothing else: ids, text, numbers and events. No buffers, no logits.
// Types only.

import type { AttentionName } from '../attention/attention';
import type { TuneResult as AttentionResult } from '../attention/profile';
import type { CachedModel } from '../storage/cache/cached_models';
import type { ChatMessage } from '../text/template/message';
import type { ProductResult } from '../tune/products';
import type { TbtSummary } from './tbt';

export type { AttentionName, AttentionResult, CachedModel, ChatMessage, ProductResult };

export type BackendName = 'webgpu' | 'cpu';
export type KvType = 'f16' | 'f32';
export type ActivationType = 'f32' | 'q8';
/** As Q8_0 and Q4_0 of GGUF. */
export type QuantizedFormat = 'q8' | 'q4';

/**
 * URL of a folder in Hugging Face layout or of a .gguf file; `hf:owner/repo`, then `@revision` and `/file.gguf` or `:Q4_K_M` where
 * wanted; or dropped files.
 */
export type ModelLocation = string | File | File[];

export interface LoadOptions {
  /**
   * Tokens of context, at most what the model was made for and fits the GPU. Default: that, within a share of memory, and within
   * the context of the training where a longer one changes RoPE (longrope, dynamic). Less than the model's is a warning.
   */
  contextLength?: number;
  /** `auto`, or the name of an attention sibling: forced means forced. */
  attention?: 'auto' | AttentionName;
  /** How keys and values are stored. Default f16. */
  kvCache?: KvType;
  /**
   * What products read where a matrix has integers (quantized, but not Q2_K): signed bytes or, exact, f32. `auto`: q8, but f32 on an
   * adapter of software and on the cpu. `q8` is refused where no matrix has integers.
   */
  activations?: 'auto' | ActivationType;
  /** Quantize matrices that the file holds as F32, F16 or BF16 while they load; others stay as they are. Default: no. */
  quantize?: QuantizedFormat;
  /** `auto`: webgpu, or the cpu with a warning where there is no WebGPU. */
  backend?: 'auto' | BackendName;
  /**
   * Keep what is fetched from a URL in this browser, and use what was kept. Default true: a model that is kept whole asks nothing of
   * the network, so that it loads anywhere and tells nobody; a newer version of it is found with `check`, which asks a hub for
   * the newest commit, any other server for each file's version, and loads what changed; what no hash has vouched for is held
   * against the server's bytes, once. Where no server answers, it is as true.
   */
  cache?: boolean | 'check';
  /**
   * SHA-256 in hex of the .gguf file that is named, or of the model.safetensors of a folder: a file with another is an error. Hubs
   * tell it by themselves, other servers may (Repr-Digest).
   */
  sha256?: string;
  /**
   * The hub that `hf:` means, a mirror perhaps; of its files `/{owner}/{repo}/resolve/{revision}/{path}` are needed, and
   * `/api/models/{owner}/{repo}/revision/{revision}`, which names commit, files and hashes, is used where it is. Default
   * https://huggingface.co.
   */
  hubUrl?: string;
}

export interface LoadProgress {
  stage: 'open' | 'weights' | 'compile' | 'ready';
  /** Bytes of the model that have arrived, and how many there are (0 while unknown). */
  loadedBytes: number;
  totalBytes: number;
  /** Those of loadedBytes that this browser had kept. Default 0. */
  cachedBytes?: number;
  bytesPerSecond: number | null;
  secondsLeft: number | null;
}

export interface GenerateOptions {
  /** Most tokens to generate; default: to the end of the context. */
  maxTokens?: number;
  /** 0 is greedy. Default 0.6. */
  temperature?: number;
  /** 0 turns it off. Default 40. */
  topK?: number;
  /** 1 turns it off. Default 0.9. */
  topP?: number;
  /** 0 turns it off. Default 0.05. */
  minP?: number;
  /** 1 turns it off. Default 1. */
  repetitionPenalty?: number;
  /** 32 bits; the same seed gives the same text. Default: a random one, reported in the `done` event. */
  seed?: number;
  /** The answer ends before the first of these. */
  stop?: readonly string[];
  /** Steps in flight on the GPU, the one being read among them. Default `auto`. */
  runAhead?: 'auto' | number;
  /** Time each step by the GPU's clock, where it has one: read once, after the answer. Default true. */
  gpuTimes?: boolean;
}

/** What to generate from: a conversation for the chat template, or text as it is. */
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

/** One candidate of a tuning, by `pass`: attention's are `prefill` and `decode`, those of matrix products `product`. */
export type TuneResult = AttentionResult | ProductResult;

/** What tuning found, attention first, and what attention runs on from now on. */
export interface TuneOutcome {
  results: TuneResult[];
  attention: AttentionChoice;
  /** Whether it was kept for the next load in this browser. */
  stored: boolean;
}

/** `total` is an estimate, never below `done`. */
export type TuneMessage =
  | { type: 'result'; result: TuneResult; done: number; total: number }
  | ({ type: 'tuned' } & TuneOutcome);

/** The most that this GPU reads from memory, in GB/s (1e9 bytes), and whose clock measured it. */
export interface Roofline {
  readGBps: number;
  clock: 'gpu' | 'cpu';
}

/** Counted at the WebGPU calls, per generated token; null on the cpu backend. */
export interface PerToken {
  dispatches: number;
  submits: number;
  /** Readbacks that the CPU waited for. */
  syncs: number;
  /** Bytes mapped for reading. */
  bytesRead: number;
}

export interface RunMetrics {
  attention: AttentionChoice;
  /** From the request's start in the worker to its first token there. */
  ttftMs: number | null;
  /** The parts of ttftMs: text to ids, and the prompt on the GPU. */
  tokenizeMs: number;
  prefillMs: number;
  prefillTokensPerSecond: number | null;
  decodeTokensPerSecond: number | null;
  tbtMs: TbtSummary;
  /** The GPU's own time of each decode step, as `tbtMs` numbers them; null where the GPU has no clock, or was not asked. */
  gpuMs: TbtSummary | null;
  perToken: PerToken | null;
  runAhead: number;
  peakGpuBytes: number | null;
}

export interface Usage {
  promptTokens: number;
  /** Prompt tokens whose keys and values were still in the cache from the turn before. */
  cachedTokens: number;
  completionTokens: number;
}

/** A token with its stages, in milliseconds as the worker's clock tells them. */
export interface TokenEvent {
  type: 'token';
  id: number;
  text: string;
  /** Since the token before it arrived; null for the first. */
  tbtMs: number | null;
  position: number;
  /** When it arrived in the worker, since the epoch of 1970: what a page can set beside its own clock. */
  atMs: number;
  /** From the recording of the step that made it (of the first token: from the end of tokenizing) to its arrival. */
  inFlightMs: number;
  /** What the worker's own thread took of tbtMs: recording steps, decoding text, posting, collecting garbage. Null for the first. */
  workerMs: number | null;
  /** Pipelines that were compiled since the token before, where there were any. */
  pipelines?: number;
}

/** `text` of token and done events, appended in order, is the answer. */
export type EngineEvent =
  | { type: 'prefill'; done: number; total: number }
  | TokenEvent
  | { type: 'warning'; code: string; message: string }
  | {
      type: 'done';
      /** What had been held back in case it grew into a longer character or a stop string. */
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
    /** Such as 'Q8_0 + F32', as found in the file, or 'F16, quantized to Q4_0'. */
    format: string;
    fileBytes: number;
  };
  backend: BackendName;
  adapter: string | null;
  contextLength: number;
  kvCache: KvType;
  /** What runs: q8 where any product does. */
  activations: ActivationType;
  attention: AttentionChoice;
  /** The attention that the load asked for: tuning cannot change one that was chosen by name. */
  askedAttention: 'auto' | AttentionName;
  hasChatTemplate: boolean;
  /** What is allocated when the model is ready; `activations` is all that is neither weights nor cache. */
  gpuBytes: { weights: number; kvCache: number; activations: number } | null;
  /**
   * Bytes that a decode step has to read once: weights as they lie on the GPU, and keys and values for each position of the
   * context before it. Null on the cpu backend.
   */
  bytesPerToken: { weights: number; kvPerPosition: number } | null;
  loadMs: { open: number; weights: number; compile: number };
  warnings: Warning[];
}

export interface GenerateRequest {
  input: GenerateInput;
  options: GenerateOptions;
}

/** What the worker posts through the port of a request: messages that belong together, the last of all a failure if any. */
export type PortMessages<Message> = readonly (Message | WorkerFailure)[];

export type LoadResult = { info: EngineInfo } | WorkerFailure;

/** Asks the page for a second worker that hashes what comes through the port. Whether there is one. */
export type StartHasher = (port: MessagePort) => Promise<boolean>;

export interface WorkerApi {
  /** Answers at once: the handshake that tells a live worker from a blocked one. */
  ping(): 'pong';
  /** Takes a Web Lock that is free again when the worker ends. Its name, or null where there are no locks. */
  holdLock(): Promise<string | null>;
  load(
    location: ModelLocation,
    options: LoadOptions,
    onProgress: (progress: LoadProgress) => unknown,
    startHasher: StartHasher,
  ): Promise<LoadResult>;
  cancelLoad(): void;
  /**
   * Posts `PortMessages<EngineEvent>`, the tokens of one readback together, at last `done` or a failure. Any message back asks
   * it to stop.
   */
  generate(request: GenerateRequest, port: MessagePort): void;
  /** Posts `PortMessages<TuneMessage>`, at last `tuned` or a failure. Any message back asks it to stop. */
  tune(port: MessagePort): void;
  /** Posts `PortMessages<Roofline>`, one or a failure. Any message back asks it to stop. */
  roofline(port: MessagePort): void;
  /** Hashes what comes through the port (storage/hash_port): in a worker of its own, which loads no model. */
  hash(port: MessagePort): void;
  /** Of this browser, not of the model that is loaded. */
  listCachedModels(): Promise<CachedModel[]>;
  deleteCachedModel(location: string): Promise<void>;
  unload(): Promise<void>;
}

/** An error in a form that structured clone keeps whole. */
export interface WorkerFailure {
  type: 'error';
  name: string;
  code: string;
  message: string;
  details: Record<string, string | number | boolean | null>;
}

/** Posted by the worker, not as the answer to a call: its GPU is lost, so that it answers no request any more. */
export interface LostMessage {
  lost: WorkerFailure;
}
