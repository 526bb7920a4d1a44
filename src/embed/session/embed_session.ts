// One chat's hold on a model of the pool: loads the model at its first use, and resolves the calls that wait for it.

import type {
  ChatEngine,
  ChatMessage,
  Engine,
  EngineChatOptions,
  EngineEvent,
  EngineLoadOptions,
  EngineLoadProgress,
  Warning,
} from '../../engine/engine';
import type { LoadState } from '../../ui/model/loader';
import { ModelSession } from '../../ui/model/model_session';
import { type LoadSettings, STANDARD_LOAD } from '../../ui/settings/settings_fields';
import { codeOf, inEachLanguage } from '../../ui/shared/advice';
import { sayError } from '../../words/error_words';
import { language, onLanguage } from '../../words/language';
import { words } from '../../words/words';
import { isAlone, type KeySource, type Served, type ServedSlot, serverPart } from '../server/server_part';
import type { EmbedModel } from '../shared/attributes';
import { abortable, type EnginePool } from './engine_pool';
import { leavable, type Waits } from './leavable';

export interface EmbedListener {
  onState(state: LoadState): void;
  /** Receives the engine, or null while nothing can answer. `stops`: an answer under way ends. */
  onEngine(engine: ChatEngine | null, stops: boolean): void;
  /** Puts a part of the server into the chat. */
  place(slot: ServedSlot, part: HTMLElement): void;
  /** Reports the begin and the end of a wait for another chat's answer. */
  onWaiting(isWaiting: boolean): void;
}

/** The notice of a chat that waits for another chat's answer. */
export function waitingNotice(): Warning {
  return { code: 'waiting', message: words().embed.waiting };
}

interface Waiter {
  resolve: (engine: ChatEngine) => void;
  reject: (error: unknown) => void;
}

export class EmbedSession {
  engine: ChatEngine | null = null;
  /** The engine of the chat's own model. */
  private local: Engine | null = null;
  /** The server that answers instead of the model or beside it, once its part is here. */
  private served: Served | null = null;
  private serving: Promise<void> | null = null;
  /** Gives the key of the server. */
  key: KeySource = () => '';
  /** Null before the first load. */
  state: LoadState | null = null;
  private session: ModelSession;
  /** Load options that are not in the settings dialog. */
  private extras: EngineLoadOptions = {};
  /** The listeners of all calls of `load` that wait. */
  private readonly watchers = new Set<(progress: EngineLoadProgress) => Promise<unknown>>();
  /** The error of the newest failed or canceled load. */
  failure: unknown = null;
  private waiters: Waiter[] = [];
  /** Those who wait for an engine of the newest model, and whether one of them has aborted the load. */
  private waits = { callers: 0, isUnwanted: false };
  /** Ends the calls of `load` for a model that another replaces. */
  private replaced = new AbortController();
  /** The error of whoever asks a server alone that the visitor has refused. */
  private refusal: Error | null = null;
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
   * The engine, loaded if necessary. Another `model` or other `options` replace the model of this chat. An abort of
   * `signal` ends the load if no other caller waits for it.
   * @throws the errors of Engine.load; DOMException AbortError after `signal`, the reader's cancel, `close`, or a call
   * for another model
   */
  async load(model?: string, options?: EngineLoadOptions | null): Promise<ChatEngine> {
    const { signal, onProgress, ...wanted } = options ?? {};
    if (this.isClosed) throw wasTakenOff();
    signal?.throwIfAborted();
    if (this.differs(model, wanted)) {
      this.replaced.abort(new DOMException('Another model is loaded instead.', 'AbortError'));
      this.replaced = new AbortController();
      this.waits = { callers: 0, isUnwanted: false };
      void this.session.close();
      this.state = null;
      const { settings, extras } = split(wanted);
      this.extras = extras;
      this.session = this.sessionFor(model ?? String(this.session.model), { ...this.own.load, ...settings });
    }
    const watcher = async (progress: EngineLoadProgress) => onProgress?.(progress); // two calls may have one listener
    this.watchers.add(watcher);
    try {
      return await this.counted(abortable(abortable(this.ready(), this.replaced.signal), signal), signal);
    } finally {
      this.watchers.delete(watcher);
    }
  }

  /** @param signal ends the load, too, once nobody waits for it */
  private async counted<T>(wait: Promise<T>, signal?: AbortSignal): Promise<T> {
    const { waits } = this;
    waits.callers++;
    try {
      const found = await wait;
      if (found) waits.isUnwanted = false; // an engine came, perhaps before the model that loads beside it
      return found;
    } catch (error) {
      waits.isUnwanted ||= signal?.aborted === true;
      throw error;
    } finally {
      if (--waits.callers === 0 && waits.isUnwanted && waits === this.waits) this.cancel();
      if (waits.callers === 0) waits.isUnwanted = false;
    }
  }

  /**
   * Answers a conversation, or one question after the system message. A model without a chat template continues the
   * question's text.
   */
  chat(asked: readonly ChatMessage[] | string, system: string, options?: EngineChatOptions | null) {
    return leavable((waits) => this.answer(waits, asked, system, options ?? {}));
  }

  private async *answer(
    { hold, left }: Waits,
    asked: readonly ChatMessage[] | string,
    system: string,
    options: EngineChatOptions,
  ): AsyncGenerator<EngineEvent, void, undefined> {
    const engine = await this.counted(Promise.race([abortable(this.ready(), options.signal), left]));
    if (!engine) return;
    if (typeof asked !== 'string') return yield* hold(engine.chat(asked, options));
    if (!engine.info.hasChatTemplate) return yield* hold(engine.complete(asked, options));
    const messages: ChatMessage[] = system ? [{ role: 'system', content: system }] : [];
    yield* hold(engine.chat([...messages, { role: 'user', content: asked }], options));
  }

  /** The engine, now or after the load under way. Starts a load if none has begun or the engine was lost. */
  private ready(): Promise<ChatEngine> {
    if (this.isClosed) return Promise.reject(wasTakenOff());
    if (this.refusal) return Promise.reject(this.refusal);
    if (this.engine && !this.engine.lost) return Promise.resolve(this.engine);
    const ready = new Promise<ChatEngine>((resolve, reject) => this.waiters.push({ resolve, reject }));
    this.serve();
    if (this.state?.kind !== 'loading' && !this.isAlone) void this.session.load();
    return ready;
  }

  /** Starts the first load. Only the listener learns its outcome. */
  start(): void {
    this.serve();
    if (this.state === null && !this.isAlone) void this.session.load();
  }

  /** True if a server answers in the place of the model. */
  private get isAlone(): boolean {
    return !!this.own.server && isAlone(this.own.server);
  }

  /** Asks the server, if there is one, the first time and after a failure. */
  private serve(): void {
    const { server = null } = this.own;
    if (!server || this.serving) return;
    if (this.isAlone) this.listener.onState({ kind: 'ready' }); // nothing loads here
    const serving: Promise<void> = serverPart()
      .then((part) => {
        if (serving !== this.serving) return; // released meanwhile
        this.served ??= part.serve({
          asked: server,
          key: () => this.key(),
          local: this.local,
          language,
          onLanguage,
          onEngine: (engine, stops) => this.give(engine, stops),
          onFailure: (error, next) => this.onServerFailure(error, next),
          onRefusal: (error) => this.onRefusal(error),
          place: (slot, element) => this.listener.place(slot, element),
        });
        if (this.state) this.served.onLoad(this.state.kind);
        return this.served.connect();
      })
      .catch((error) => this.onServerFailure(error, () => ''));
    this.serving = serving;
  }

  /** Reports a failed server. If the chat also has a model, that model's answers are enough. */
  private onServerFailure(error: unknown, next: () => string): void {
    this.serving = null;
    if (!this.isAlone) {
      console.warn('Vivace: the server does not answer.', error);
      return;
    }
    const advice = inEachLanguage(() => {
      const { text, detail } = sayError(error);
      const { unavailable, later } = words().embed;
      return { what: unavailable, detail: detail || text, next: next() || later, offers: ['retry'] };
    });
    this.failure = error;
    this.onState({ kind: 'failed', advice, code: codeOf(error) });
  }

  /** The visitor may take long to allow what they refused. Nobody waits for that. */
  private onRefusal(error: Error | null): void {
    this.refusal = this.isAlone ? error : null;
    if (this.refusal) this.settle(null, this.refusal);
  }

  reload(settings: LoadSettings): void {
    this.session.settings = settings;
    void this.session.load();
  }

  take(offer: Parameters<ModelSession['take']>[0]): void {
    if (this.isAlone) this.serve();
    else this.session.take(offer);
  }

  cancel(): void {
    this.session.cancel();
  }

  /** Releases the model until its next use. */
  async release(): Promise<void> {
    this.served?.close();
    this.served = this.serving = null;
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
    const { worker, sha256, share } = this.own;
    try {
      return await this.pool.acquire(model, {
        workerUrl: worker,
        share,
        sha256: model === this.own.model ? sha256 : undefined,
        ...this.extras,
        ...options,
        onProgress: (progress) =>
          Promise.all([options.onProgress, ...this.watchers].map(async (heard) => heard?.(progress))),
        onWaiting: (isWaiting) => this.listener.onWaiting(isWaiting),
      });
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  private onState(state: LoadState): void {
    this.state = state;
    this.served?.onLoad(state.kind);
    if (state.kind === 'canceled') this.failure = new DOMException('Loading was canceled.', 'AbortError');
    this.listener.onState(state);
    if (state.kind === 'failed' || state.kind === 'canceled') this.settle(null, this.failure);
  }

  private onEngine(engine: Engine | null): void {
    this.local = engine;
    if (this.served) this.served.onLocal(engine);
    else this.give(engine);
  }

  private give(engine: ChatEngine | null, stops = true): void {
    this.engine = engine;
    this.listener.onEngine(engine, stops);
    if (engine) this.settle(engine, null);
  }

  private settle(engine: ChatEngine | null, error: unknown): void {
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
