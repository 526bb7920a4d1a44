// The only API that clients import. It speaks to the worker and turns its messages into async iterators.
// It holds no model, no GPU object and no DOM node.

import { proxy, transfer } from 'comlink';
import { WorkerError } from '../errors';
import { absolute, Connection } from './connection';
import { fromFailure } from './failure';
import { HashThread } from './hash_thread';
import type {
  ChatMessage,
  EngineEvent,
  EngineInfo,
  GenerateInput,
  GenerateOptions,
  LoadOptions,
  LoadProgress,
  LoadResult,
  ModelLocation,
  Roofline,
  RunMetrics,
  TuneMessage,
  TuneOutcome,
  TuneResult,
  WorkerFailure,
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
} from '../storage/hub_address';
export { cacheUsage, deleteCachedModel, listCachedModels } from './model_cache';
export type * from './protocol';
export { type RunHeard, type RunReport, runReport } from './run_report';
export { trustedScriptUrl } from './script_url';

export interface EngineLoadOptions extends LoadOptions {
  /** Address of `vivace_worker.js` on the page's own origin, for pages whose policy forbids workers from a blob. */
  workerUrl?: string;
  /** At stage `weights` the model's headers were read and accepted; before it takes memory the load waits for what this returns. */
  onProgress?: (progress: LoadProgress) => void | Promise<void>;
  signal?: AbortSignal;
}

export interface EngineGenerateOptions extends GenerateOptions {
  signal?: AbortSignal;
}

export interface EngineTuneOptions {
  /** Each candidate as it was measured or refused; `total` is an estimate. */
  onResult?: (result: TuneResult, done: number, total: number) => void;
  signal?: AbortSignal;
}

export class Engine {
  /** Of the newest finished run, or null before the first. */
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
    const hashing = new HashThread(workerUrl, signal);
    const cancel = () => void connection.worker.cancelLoad();
    signal?.addEventListener('abort', cancel);
    try {
      signal?.throwIfAborted();
      const location = typeof model === 'string' ? absolute(model) : model;
      const { hubUrl } = loadOptions;
      const options = hubUrl === undefined ? loadOptions : { ...loadOptions, hubUrl: absolute(hubUrl) };
      const { worker } = connection;
      const hear = async (progress: LoadProgress) => void (await onProgress(progress));
      const loading = worker.load(location, options, proxy(hear), proxy(hashing.start)) as Promise<LoadResult>;
      const result = await Promise.race([connection.alive(loading), hashing.lost]);
      if ('type' in result) throw fromFailure(result);
      signal?.throwIfAborted();
      return new Engine(connection, result.info);
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      hashing.close();
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Answers a conversation through the model's chat template. */
  chat(
    messages: readonly ChatMessage[],
    options?: EngineGenerateOptions,
  ): AsyncGenerator<EngineEvent, void, undefined> {
    return this.generate({ messages }, options);
  }

  /** Continues a text as it is. */
  complete(prompt: string, options?: EngineGenerateOptions): AsyncGenerator<EngineEvent, void, undefined> {
    return this.generate({ prompt }, options);
  }

  /**
   * Measures every way to compute attention and matrix products on this GPU, after the requests before it, and runs on the
   * fastest from then on. An abort changes nothing; the engine stays usable.
   * @throws VivaceError on the cpu backend or with an attention that was chosen by name; DOMException AbortError
   */
  async tune({ onResult, signal }: EngineTuneOptions = {}): Promise<TuneOutcome> {
    const messages = this.request<TuneMessage>((port) => this.connection.worker.tune(port), signal);
    for await (const message of messages) {
      if (message.type === 'result') onResult?.(message.result, message.done, message.total);
      else {
        const { results, attention, stored } = message;
        this.info.attention = attention;
        return { results, attention, stored };
      }
    }
    throw new WorkerError("The engine's worker stopped before the end of tuning. Load the model again.");
  }

  /**
   * The most that this GPU reads from memory: measured once, after the requests before it, and known from then on. It takes
   * about half a second and, for that time, up to 256 MB of GPU memory.
   * @throws VivaceError on the cpu backend or where memory is short; DOMException AbortError
   */
  async roofline({ signal }: { signal?: AbortSignal } = {}): Promise<Roofline> {
    const answers = this.request<Roofline>((port) => this.connection.worker.roofline(port), signal);
    try {
      return (await answers.next()).value as Roofline; // one message, or an error
    } finally {
      await answers.return();
    }
  }

  /** Frees the model and ends the worker. */
  async unload(): Promise<void> {
    await this.connection.alive(this.connection.worker.unload()).catch(() => {});
    this.connection.close();
  }

  private async *generate(
    input: GenerateInput,
    { signal, ...options }: EngineGenerateOptions = {},
  ): AsyncGenerator<EngineEvent, void, undefined> {
    const { worker } = this.connection;
    for await (const event of this.request<EngineEvent>((port) => worker.generate({ input, options }, port), signal)) {
      if (event.type === 'done') this.metrics = event.metrics;
      yield event;
      if (event.type === 'done') return;
    }
  }

  /**
   * What the worker posts until the caller has enough. Leaving the iterator early, or aborting the signal, stops the
   * worker; the engine stays usable.
   */
  private async *request<Message extends object>(
    start: (port: MessagePort) => Promise<void>,
    signal?: AbortSignal,
  ): AsyncGenerator<Message, void, undefined> {
    const { port1, port2 } = new MessageChannel();
    const inbox = new Inbox<Message | WorkerFailure>();
    port1.onmessage = ({ data }) => inbox.put(data);
    const stop = () => port1.postMessage('stop');
    try {
      await this.connection.alive(start(transfer(port2, [port2])));
      signal?.addEventListener('abort', stop);
      if (signal?.aborted) stop();
      for (;;) {
        const message = await this.connection.alive(inbox.take());
        if (isFailure(message)) throw fromFailure(message);
        yield message;
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      stop();
      port1.close();
    }
  }
}

function isFailure(message: object): message is WorkerFailure {
  return 'type' in message && message.type === 'error';
}

/** Messages in order, taken by whoever waits for them. */
class Inbox<T> {
  private readonly messages: T[] = [];
  private wake: (() => void) | null = null;

  put(message: T): void {
    this.messages.push(message);
    this.wake?.();
  }

  async take(): Promise<T> {
    while (this.messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.messages.shift() as T;
  }
}
