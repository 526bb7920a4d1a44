// One chat's hold on a model of the pool: loads the model at its first use, and resolves the calls that wait for it.

import type { ChatMessage, Engine, EngineChatOptions, EngineEvent, EngineLoadOptions, Warning } from '../engine/engine';
import type { LoadState } from '../ui/model/loader';
import { ModelSession } from '../ui/model/model_session';
import { type LoadSettings, STANDARD_LOAD } from '../ui/settings/settings_fields';
import { words } from '../words/words';
import { abortable, type EnginePool } from './engine_pool';
import { leavable, type Waits } from './leavable';
import type { EmbedModel } from './options';

export interface EmbedListener {
  onState(state: LoadState): void;
  /** Receives the engine, or null while no model can answer. */
  onEngine(engine: Engine | null): void;
  /** Reports the begin and the end of a wait for another chat's answer. */
  onWaiting(isWaiting: boolean): void;
}

/** The notice of a chat that waits for another chat's answer. */
export function waitingNotice(): Warning {
  return { code: 'waiting', message: words().embed.waiting };
}

interface Waiter {
  resolve: (engine: Engine) => void;
  reject: (error: unknown) => void;
}

export class EmbedSession {
  engine: Engine | null = null;
  /** Null before the first load. */
  state: LoadState | null = null;
  private session: ModelSession;
  /** Load options that are not in the settings dialog. */
  private extras: EngineLoadOptions = {};
  /** The error of the newest failed or canceled load. */
  failure: unknown = null;
  private waiters: Waiter[] = [];
  private isClosed = false;

  constructor(
    /** The model of the tag or the element. Its load settings also apply to other models. */
    private readonly own: EmbedModel,
    private readonly pool: EnginePool,
    private readonly listener: EmbedListener,
  ) {
    this.session = this.sessionFor(own.model, own.load);
  }

  get settings(): LoadSettings {
    return this.session.settings;
  }

  /**
   * The engine, loaded if necessary. Another `model` or other `options` replace the model of this chat.
   * @throws the errors of Engine.load; DOMException AbortError after `signal`, the reader's cancel or `close`
   */
  async load(model?: string, options: EngineLoadOptions = {}): Promise<Engine> {
    const { signal, onProgress, ...wanted } = options;
    if (this.isClosed) throw wasTakenOff();
    signal?.throwIfAborted();
    if (this.differs(model, wanted)) {
      void this.session.close();
      this.state = null;
      const { settings, extras } = split(wanted);
      this.extras = extras;
      this.session = this.sessionFor(model ?? String(this.session.model), { ...this.own.load, ...settings });
    }
    if (onProgress) this.extras = { ...this.extras, onProgress };
    const cancel = () => this.cancel();
    signal?.addEventListener('abort', cancel);
    try {
      return await abortable(this.ready(), signal);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /**
   * Answers a conversation, or one question after the system message. A model without a chat template continues the
   * question's text.
   */
  chat(asked: readonly ChatMessage[] | string, system: string, options: EngineChatOptions = {}) {
    return leavable((waits) => this.answer(waits, asked, system, options));
  }

  private async *answer(
    { hold, left }: Waits,
    asked: readonly ChatMessage[] | string,
    system: string,
    options: EngineChatOptions,
  ): AsyncGenerator<EngineEvent, void, undefined> {
    const engine = await Promise.race([abortable(this.ready(), options.signal), left]);
    if (!engine) return;
    if (typeof asked !== 'string') return yield* hold(engine.chat(asked, options));
    if (!engine.info.hasChatTemplate) return yield* hold(engine.complete(asked, options));
    const messages: ChatMessage[] = system ? [{ role: 'system', content: system }] : [];
    yield* hold(engine.chat([...messages, { role: 'user', content: asked }], options));
  }

  /** The engine, now or after the load under way. Starts a load if none has begun or the engine was lost. */
  private ready(): Promise<Engine> {
    if (this.isClosed) return Promise.reject(wasTakenOff());
    if (this.engine && !this.engine.lost) return Promise.resolve(this.engine);
    const ready = new Promise<Engine>((resolve, reject) => this.waiters.push({ resolve, reject }));
    if (this.state?.kind !== 'loading') void this.session.load();
    return ready;
  }

  /** Starts the first load. Only the listener learns its outcome. */
  start(): void {
    if (this.state === null) void this.session.load();
  }

  reload(settings: LoadSettings): void {
    this.session.settings = settings;
    void this.session.load();
  }

  take(offer: Parameters<ModelSession['take']>[0]): void {
    this.session.take(offer);
  }

  cancel(): void {
    this.session.cancel();
  }

  /** Releases the model until its next use. */
  async release(): Promise<void> {
    this.state = null;
    this.settle(null, wasTakenOff());
    await this.session.close();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.release();
  }

  private differs(model: string | undefined, wanted: EngineLoadOptions): boolean {
    if (model !== undefined && model !== this.session.model) return true;
    const now: Record<string, unknown> = { ...this.extras, ...this.session.settings };
    return Object.entries(wanted).some(([key, value]) => value !== undefined && value !== now[key]);
  }

  private sessionFor(model: string, settings: LoadSettings): ModelSession {
    const session: ModelSession = new ModelSession(
      model,
      settings,
      {
        onState: (state) => {
          if (session === this.session) this.onState(state);
        },
        onEngine: (engine) => {
          if (session === this.session) this.onEngine(engine);
        },
      },
      (location, options) => this.open(String(location), options),
    );
    return session;
  }

  private async open(model: string, options: EngineLoadOptions): Promise<Engine> {
    const { onProgress, ...extras } = this.extras;
    const { worker, sha256 } = this.own;
    try {
      return await this.pool.acquire(model, {
        workerUrl: worker,
        sha256: model === this.own.model ? sha256 : undefined,
        ...extras,
        ...options,
        onProgress: (progress) => {
          onProgress?.(progress);
          return options.onProgress?.(progress);
        },
        onWaiting: (isWaiting) => this.listener.onWaiting(isWaiting),
      });
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  private onState(state: LoadState): void {
    this.state = state;
    if (state.kind === 'canceled') this.failure = new DOMException('Loading was canceled.', 'AbortError');
    this.listener.onState(state);
    if (state.kind === 'failed' || state.kind === 'canceled') this.settle(null, this.failure);
  }

  private onEngine(engine: Engine | null): void {
    this.engine = engine;
    this.listener.onEngine(engine);
    if (engine) this.settle(engine, null);
  }

  private settle(engine: Engine | null, error: unknown): void {
    for (const { resolve, reject } of this.waiters.splice(0)) {
      if (engine) resolve(engine);
      else reject(error);
    }
  }
}

function wasTakenOff(): DOMException {
  return new DOMException('The chat was taken off the page.', 'AbortError');
}

/** Separates the options of the settings dialog from the others. */
function split(options: EngineLoadOptions): { settings: Partial<LoadSettings>; extras: EngineLoadOptions } {
  const settings: Record<string, unknown> = {};
  const extras: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options)) {
    if (value !== undefined) (key in STANDARD_LOAD ? settings : extras)[key] = value;
  }
  return { settings, extras };
}
