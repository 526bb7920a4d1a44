// The API of the engine, the only one that clients import. It sends requests to the worker and turns the messages that
// come back into async iterators. It holds no model, no GPU object and no DOM node.

import { proxy } from 'comlink';
import type { VivaceError } from '../errors';
import { callError, fromFailure } from './failure';
import type { Health } from './health';
import { type Answers, answers } from './page/answers';
import { absolute, Connection } from './page/connection';
import { HashThread } from './page/hash_thread';
import { Request } from './page/request';
import type {
  ChatMessage,
  ChatSettings,
  Embeddings,
  EmbedOptions,
  EngineInfo,
  GenerateOptions,
  LoadOptions,
  LoadProgress,
  LoadResult,
  ModelLocation,
  Roofline,
  RunMetrics,
  TokenizeResult,
  TuneMessage,
  TuneOutcome,
  TuneResult,
} from './protocol';

export { VivaceError } from '../errors';
export {
  HUB,
  type HubAddress,
  hubLocation,
  isHubHost,
  mayOwn,
  modelLocation,
  parseHubId,
  readHubUrl,
  showHubAddress,
} from '../storage/hub/hub_address';
export type { Health } from './health';
export { cacheUsage, deleteCachedModel, listCachedModels } from './page/model_cache';
export { type Recovery, type RunHeard, type RunReport, runReport, takeRecovery } from './page/run_report';
export { trustedScriptUrl } from './page/script_url';
export type * from './protocol';

export interface EngineLoadOptions extends LoadOptions {
  /** Address of `vivace_worker.js` on the page's own origin, for pages whose policy forbids workers from a blob. */
  workerUrl?: string;
  /**
   * At stage `weights` the model's headers have been read and accepted. The load waits for the returned promise before
   * it takes memory.
   */
  onProgress?: (progress: EngineLoadProgress) => unknown;
  signal?: AbortSignal;
}

export interface EngineLoadProgress extends LoadProgress {
  /** Loads without waiting for another tab any longer. Present while the load waits for one. */
  goOnAlone?(): void;
}

export interface EngineGenerateOptions extends GenerateOptions {
  signal?: AbortSignal;
}

/** The options of an answer to a conversation. */
export interface EngineChatOptions extends EngineGenerateOptions, ChatSettings {}

/** A text, or a conversation. */
type Tokenizable = string | readonly ChatMessage[];

/** What decides the ids of a conversation. */
export interface EngineTokenizeOptions extends ChatSettings, Pick<GenerateOptions, 'thinking'> {}

export interface EngineTuneOptions {
  /** Runs for each candidate that was measured or refused. `total` is an estimate. */
  onResult?: (result: TuneResult, done: number, total: number) => void;
  signal?: AbortSignal;
}

export class Engine {
  /** The metrics of the newest finished run, or null before the first. */
  metrics: RunMetrics | null = null;

  private constructor(
    private readonly connection: Connection,
    readonly info: EngineInfo,
  ) {}

  /**
   * Starts a worker and loads a model in it.
   * @throws VivaceError with a `code`; DOMException AbortError when `signal` aborts
   */
  static async load(model: ModelLocation, options: EngineLoadOptions = {}): Promise<Engine> {
    const { onProgress = () => {}, signal, workerUrl, ...loadOptions } = options;
    signal?.throwIfAborted();
    const connection = await Connection.open(workerUrl, signal);
    const { worker } = connection;
    const hashing = new HashThread(workerUrl, signal);
    let loading: Promise<LoadResult> | null = null;
    let cancel = () => {};
    const canceled = new Promise<never>((_, reject) => {
      cancel = () => reject(signal?.reason);
      signal?.addEventListener('abort', cancel);
    });
    canceled.catch(() => {}); // awaited below, unless an error comes first
    try {
      signal?.throwIfAborted();
      const location = typeof model === 'string' ? absolute(model) : model;
      const { hubUrl } = loadOptions;
      const options = hubUrl === undefined ? loadOptions : { ...loadOptions, hubUrl: absolute(hubUrl) };
      const report = async (progress: LoadProgress) => {
        try {
          if (!signal?.aborted) await onProgress(progress);
        } catch (error) {
          setTimeout(() => {
            throw error; // the page's own error, reported as such
          });
        }
      };
      loading = worker.load(location, options, proxy(report), proxy(hashing.start)) as Promise<LoadResult>;
      const result = await Promise.race([connection.alive(loading), hashing.lost, canceled]);
      if ('type' in result) throw fromFailure(result);
      return new Engine(connection, result.info);
    } catch (error) {
      if (loading && signal?.aborted) {
        void worker.cancelLoad();
        void connection.closeAfter(loading);
      } else connection.close();
      throw error;
    } finally {
      hashing.close();
      signal?.removeEventListener('abort', cancel);
    }
  }

  /**
   * The reason why this engine answers no more: its worker died, or its GPU is lost. Null while it works. Load a new
   * one.
   */
  get lost(): VivaceError | null {
    return this.connection.lost;
  }

  /** The health now. */
  get health(): Health {
    return this.lost ? { state: 'lost', cause: this.lost } : { state: 'well' };
  }

  /** Calls `listener` after each change of `health`. Returns a function that takes the listener off. */
  onHealth(listener: (health: Health) => void): () => void {
    let isOn = true;
    void this.whenLost.then((cause) => isOn && listener({ state: 'lost', cause }));
    return () => {
      isOn = false;
    };
  }

  /** Resolves with `lost` when the engine is lost. `unload` is no loss. */
  get whenLost(): Promise<VivaceError> {
    return this.connection.whenLost;
  }

  /** Answers a conversation through the model's chat template. */
  chat(
    messages: readonly ChatMessage[],
    { tools, toolChoice, templateArguments, continueLast, ...options }: EngineChatOptions = {},
  ): Answers {
    const input = { messages, tools, toolChoice, templateArguments, continueLast };
    return answers(this.connection, this, input, options);
  }

  /**
   * Continues a text, or ids. Added tokens in a text are recognized. An empty text continues the token that begins a
   * text.
   */
  complete(prompt: string | readonly number[], options?: EngineGenerateOptions): Answers {
    return answers(this.connection, this, typeof prompt === 'string' ? { prompt } : { ids: prompt }, options);
  }

  /**
   * The ids of a text as `complete` continues it, or of a conversation as `chat` answers it, however many. Come at
   * once, also while answers run.
   * @throws VivaceError
   */
  async tokenize(input: Tokenizable, options?: EngineTokenizeOptions): Promise<number[]> {
    return Array.from(await this.idsOf(input, options));
  }

  /** The number of ids that `tokenize` gives. @throws VivaceError */
  async countTokens(input: Tokenizable, options?: EngineTokenizeOptions): Promise<number> {
    return (await this.idsOf(input, options)).length;
  }

  /**
   * The vectors of 1 to 2,048 texts, after earlier requests. Overwrites the cache of the conversation so far. A prefix
   * that a model wants for a task is the caller's.
   * @throws VivaceError for an empty text, or one longer than the context; DOMException AbortError
   */
  async embed(
    texts: readonly string[],
    { signal, ...options }: EmbedOptions & { signal?: AbortSignal } = {},
  ): Promise<Embeddings> {
    const request = new Request<Embeddings>(
      this.connection,
      (worker, port) => worker.embed({ texts, options }, port),
      signal,
    );
    try {
      const embeddings = await request.take();
      if (!embeddings) throw signal?.reason;
      return embeddings;
    } finally {
      request.close();
    }
  }

  /**
   * Measures every way to compute attention and matrix products on this GPU, after earlier requests, and uses the
   * fastest from then on. An abort changes nothing, and the engine stays usable.
   * @throws VivaceError on the cpu backend or with an attention that was chosen by name; DOMException AbortError
   */
  async tune({ onResult, signal }: EngineTuneOptions = {}): Promise<TuneOutcome> {
    const request = new Request<TuneMessage>(this.connection, (worker, port) => worker.tune(port), signal);
    try {
      for (;;) {
        const message = await request.take();
        if (!message) throw signal?.reason;
        if (message.type === 'result') onResult?.(message.result, message.done, message.total);
        else {
          const { results, attention, step, stored } = message;
          this.info.attention = attention;
          this.info.step = step;
          return { results, attention, step, stored };
        }
      }
    } finally {
      request.close();
    }
  }

  /**
   * The fastest read of this GPU's memory. The first call measures it after earlier requests, which takes about half a
   * second and up to 256 MB of GPU memory meanwhile. Later calls return the same figure.
   * @throws VivaceError on the cpu backend or where memory is short; DOMException AbortError
   */
  async roofline({ signal }: { signal?: AbortSignal } = {}): Promise<Roofline> {
    const request = new Request<Roofline>(this.connection, (worker, port) => worker.roofline(port), signal);
    try {
      const roofline = await request.take();
      if (!roofline) throw signal?.reason;
      return roofline;
    } finally {
      request.close();
    }
  }

  /** Frees the model and ends the worker, even one that hangs. */
  async unload(): Promise<void> {
    await this.connection.closeAfter(this.connection.worker.unload());
  }
  private async idsOf(
    given: Tokenizable,
    { thinking, tools, toolChoice, templateArguments, continueLast }: EngineTokenizeOptions = {},
  ): Promise<Uint32Array> {
    const { connection } = this;
    const settings = { tools, toolChoice, templateArguments, continueLast };
    const input = typeof given === 'string' ? { prompt: given } : { messages: given, ...settings };
    const call = connection.worker.tokenize(input, thinking) as Promise<TokenizeResult>;
    const result = await connection.alive(call).catch((error) => {
      throw callError(error);
    });
    if ('type' in result) throw fromFailure(result);
    return result.ids;
  }
}
