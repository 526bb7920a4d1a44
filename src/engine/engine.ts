// The API of the engine, the only one that clients import. It sends requests to the worker and turns the messages that
// come back into async iterators. It holds no model, no GPU object and no DOM node.

import { VivaceError } from '../errors';
import { checkSignal } from '../shared/abortable';
import { callError, fromFailure, toFailure } from './failure';
import type { Health } from './health';
import { type Answers, answers } from './page/answers';
import { absolute } from './page/host/connection';
import type { EngineHost, WorkerRequest } from './page/host/host';
import { isPhone } from './page/host/phone';
import { Supervisor } from './page/host/supervisor';
import { Request, sendable } from './page/request';
import type {
  ArithmeticChoice,
  ChatMessage,
  ChatSettings,
  Embeddings,
  EmbedOptions,
  EngineInfo,
  GenerateOptions,
  LoadOptions,
  LoadProgress,
  ModelLocation,
  Roofline,
  RunMetrics,
  TuneMessage,
  TuneOutcome,
  TuneResult,
} from './protocol';

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
export { cacheUsage, deleteCachedModel, listCachedModels } from './page/host/model_cache';
export { checkConstraint, deleteStoredPrompts, storedPromptBytes } from './page/later';
export { type Recovery, type RunHeard, type RunReport, runReport, takeRecovery } from './page/run_report';
export { trustedScriptUrl } from './page/worker_code/script_url';
export type * from './protocol';
export type { Answers };
export { VivaceError };

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
export type Tokenizable = string | readonly ChatMessage[];

/** The settings that decide the ids of a conversation. */
export interface EngineTokenizeOptions extends ChatSettings, Pick<GenerateOptions, 'thinking'> {}

export interface EngineTuneOptions {
  /** Runs for each candidate that was measured or refused. `total` is an estimate. */
  onResult?: (result: TuneResult, done: number, total: number) => void;
  signal?: AbortSignal;
}

/** An engine that need not compute all of its answers on this machine. */
export interface PlacedEngine
  extends Pick<Engine, 'metrics' | 'info' | 'lost' | 'health' | 'onHealth' | 'chat' | 'complete' | 'unload'> {
  /** The engine of this page that can be tuned and measured, or null. */
  readonly local: Engine | null;
}

/** The engine of a chat. */
export type ChatEngine = Engine | PlacedEngine;

/** The engine of this page behind what a chat asks, or null. */
export function engineHere(engine: ChatEngine | null): Engine | null {
  return engine && 'local' in engine ? engine.local : engine;
}

export class Engine {
  /** The metrics of the newest finished run, or null before the first. */
  metrics: RunMetrics | null = null;

  /** `Engine.load` makes an engine. @param host whoever has its model */
  constructor(private readonly host: EngineHost) {}

  /**
   * Starts a worker and loads a model in it. A worker or a GPU that is lost meanwhile begins the load again.
   * @throws VivaceError with a `code`; DOMException AbortError when `signal` aborts
   */
  static async load(model: ModelLocation, options?: EngineLoadOptions | null): Promise<Engine> {
    return new Engine(await openHost(model, options ?? {}));
  }

  /** The model as loaded last: after a recovery its backend or context may differ. */
  get info(): EngineInfo {
    return this.host.info;
  }

  /**
   * The reason why this engine answers no more: it lost its worker or its GPU, and recovers no more. Null while it
   * works or recovers. Load a new one.
   */
  get lost(): VivaceError | null {
    return this.host.lost;
  }

  /** The health now. */
  get health(): Health {
    return this.host.health;
  }

  /** Calls `listener` after each change of `health`. Returns a function that takes the listener off. */
  onHealth(listener: (health: Health) => void): () => void {
    const { listeners } = this.host;
    const heard = (health: Health) => void guarded(() => listener(health));
    listeners.add(heard);
    return () => void listeners.delete(heard);
  }

  /** Resolves with `lost` when the engine is lost. `unload` is no loss. */
  get whenLost(): Promise<VivaceError> {
    return this.host.whenLost;
  }

  /** Answers a conversation through the model's chat template. */
  chat(messages: readonly ChatMessage[], options?: EngineChatOptions | null): Answers {
    const { tools, toolChoice, templateArguments, continueLast, ...others } = options ?? {};
    const input = { messages, tools, toolChoice, templateArguments, continueLast };
    return answers(this.host, this, input, others);
  }

  /**
   * Continues a text, or ids. Added tokens in a text are recognized. An empty text continues the token that begins a
   * text.
   */
  complete(prompt: string | readonly number[], options?: EngineGenerateOptions | null): Answers {
    return answers(this.host, this, typeof prompt === 'string' ? { prompt } : { ids: prompt }, options ?? {});
  }

  /**
   * The ids of a text as `complete` continues it, or of a conversation as `chat` answers it, however many. Waits
   * for no answer that runs.
   * @throws VivaceError
   */
  async tokenize(input: Tokenizable, options?: EngineTokenizeOptions | null): Promise<number[]> {
    return Array.from(await this.idsOf(input, options));
  }

  /** The number of ids that `tokenize` gives. @throws VivaceError */
  async countTokens(input: Tokenizable, options?: EngineTokenizeOptions | null): Promise<number> {
    return (await this.idsOf(input, options)).length;
  }

  /**
   * The vectors of 1 to 2,048 texts, in turns with answers that run. The conversation so far comes back as far as
   * `kvBudgetBytes` allows. A prefix that a model wants for a task is the caller's.
   * @throws VivaceError for an empty text, or one longer than the context; DOMException AbortError
   */
  async embed(
    texts: readonly string[],
    options?: (EmbedOptions & { signal?: AbortSignal }) | null,
  ): Promise<Embeddings> {
    const { signal, ...others } = options ?? {};
    return this.ask({ kind: 'embed', body: { texts, options: others } }, signal, true);
  }

  /**
   * Measures every way to compute attention and matrix products on this GPU, after earlier requests, and uses the
   * fastest from then on. An abort changes nothing, and the engine stays usable.
   * @throws VivaceError on the cpu backend or with an attention that was chosen by name; DOMException AbortError
   */
  async tune(options?: EngineTuneOptions | null): Promise<TuneOutcome> {
    const { onResult, signal, ...others } = options ?? {};
    const request = new Request<TuneMessage>(this.host, { kind: 'tune', body: { options: others } }, signal);
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
  async roofline(options?: { signal?: AbortSignal } | null): Promise<Roofline> {
    const { signal, ...others } = options ?? {};
    return this.ask({ kind: 'roofline', body: { options: others } }, signal);
  }

  /** Frees the model and ends the worker, even one that hangs, and a recovery. */
  unload(): Promise<void> {
    return this.host.unload();
  }

  /** The one message of a request. With `repeats` the request survives the loss of its worker. */
  private async ask<T extends object>(asked: WorkerRequest, signal?: AbortSignal, repeats = false): Promise<T> {
    for (;;) {
      const request = new Request<T>(this.host, asked, signal);
      try {
        const message = await request.take();
        if (!message) throw signal?.reason;
        return message;
      } catch (error) {
        if (!repeats || !request.isLoss(error)) throw error;
      } finally {
        request.close();
      }
    }
  }

  private async idsOf(given: Tokenizable, options?: EngineTokenizeOptions | null): Promise<Uint32Array> {
    const { tools, toolChoice, templateArguments, continueLast, ...others } = options ?? {};
    const settings = { tools, toolChoice, templateArguments, continueLast };
    const input = typeof given === 'string' ? { prompt: given } : { messages: given, ...settings };
    const result = await this.host.tokenize(input, sendable(others)).catch((error) => {
      throw callError(error);
    });
    return result.ids;
  }
}

/** Parts of the engine for `vivace/tabs`, which has no copy of them. */
export const engineParts = { openHost, absolute, isPhone, checkSignal, toFailure, fromFailure, callError, VivaceError };

/** A model in workers of this page. @param before the arithmetic of an engine whose answers go on here */
async function openHost(
  model: ModelLocation,
  { onProgress = () => {}, signal, workerUrl, ...given }: EngineLoadOptions,
  before?: ArithmeticChoice,
): Promise<EngineHost> {
  checkSignal(signal);
  const location = typeof model === 'string' ? absolute(model) : model;
  if (typeof given.hubUrl === 'string') given.hubUrl = absolute(given.hubUrl);
  return Supervisor.load(
    { location, options: sendable(given), workerUrl, before },
    (progress) => (signal?.aborted ? undefined : guarded(() => onProgress(progress))),
    signal,
  );
}

/** Runs the page's code. An error there is the page's own, reported as such. */
async function guarded(callback: () => unknown): Promise<void> {
  try {
    await callback();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}
