// One interface over an engine in this page and one that is a server. A rule says which answers; nothing is sent before
// consent was given; an answer whose engine is lost goes on at the other one where the rule allows it.

import type { EngineChatOptions, EngineGenerateOptions } from '../../engine/engine';
import type { Health } from '../../engine/health';
import type { ChatMessage, EngineEvent, EngineInfo, Place, RunMetrics } from '../../engine/protocol';
import { InvalidRequestError, VivaceError } from '../../errors';
import { abortable } from '../../shared/abortable';
import { refuseUnknown } from '../../shared/known_names';
import { RemoteError } from '../remote_error';
import { type Answers, stoppable } from '../stoppable';
import { type AnswerEngine, checkRule, type LocalEngine, mayMove, placeOf, type Rule } from './places';
import { Told } from './told';

export interface HybridOptions<Local extends LocalEngine = LocalEngine> {
  /** The engine of this page, or its load. Null: none. */
  local: Local | Promise<Local> | null;
  /**
   * The server's engine, or what finds it, such as `() => RemoteEngine.load(address)`: called after consent, and again
   * after a failure.
   */
  remote: AnswerEngine | (() => Promise<AnswerEngine>);
  /** Default: `remote-until-loaded`. */
  rule?: Rule;
  /** Asks the person, before anything leaves this machine. Called until it has said true once. */
  consent: () => boolean | Promise<boolean>;
}

/** A conversation or a text, asked of either engine. */
interface Asked {
  readonly messages?: readonly ChatMessage[];
  readonly prompt?: string | readonly number[];
  readonly options: EngineChatOptions;
}

/** Codes of a local engine that cannot answer here and now, while another may. */
const LOSSES = new Set([
  'worker',
  'device-lost',
  'gpu-memory',
  'gpu-program',
  'memory',
  'not-finite',
  'webgpu-unavailable',
]);

export class HybridEngine<Local extends LocalEngine = LocalEngine> {
  /** The metrics of the newest finished answer, or null before the first. */
  metrics: RunMetrics | null = null;
  readonly #options: HybridOptions<Local>;
  readonly #rule: Rule;
  readonly #running = new Set<AbortController>();
  readonly #askConsent = inOne(async () => {
    this.#hasConsent ||= (await this.#options.consent()) === true;
    return this.#hasConsent;
  });
  readonly #findRemote = inOne(async () => {
    const { remote } = this.#options;
    this.#remote ??= typeof remote === 'function' ? await remote() : remote;
    return this.#remote;
  });
  #local: Local | null = null;
  #remote: AnswerEngine | null = null;
  #hasConsent = false;
  #isUnloaded = false;

  /** @throws InvalidRequestError for an option that is none, lacks or has no legal value */
  constructor(options: HybridOptions<Local>) {
    checkOptions(options ?? {}); // a caller without types may pass null
    const { rule = 'remote-until-loaded', local } = options;
    checkRule(rule);
    this.#options = options;
    this.#rule = rule;
    if (typeof options.remote !== 'function') this.#remote = options.remote;
    if (local && !('then' in local)) this.#local = local;
    Promise.resolve(local).then(
      (engine) => {
        this.#local = engine;
        if (this.#isUnloaded) engine?.unload();
      },
      () => {}, // a request that needs the local engine says why
    );
  }

  /**
   * The facts of the local model once it is loaded, else those of the server's. By the rule `longerThan` it has the
   * longer context, by `remote` it is the server's.
   * @throws InvalidRequestError before either has answered
   */
  get info(): EngineInfo {
    const { local } = this;
    const remote = this.#remote?.info;
    if (remote && (this.#rule === 'remote' || !local || local.lost)) return remote;
    if (local && remote && typeof this.#rule === 'object')
      return { ...local.info, contextLength: Math.max(local.info.contextLength, remote.contextLength) };
    if (local) return local.info;
    throw new InvalidRequestError('No engine has answered yet. Wait for the load, or for the first answer.');
  }

  /** The engine of this page, once it is loaded. */
  get local(): Local | null {
    return this.#local;
  }

  /** Null: another engine may answer where one is lost. By the rule `local`, that of the local engine. */
  get lost(): VivaceError | null {
    return this.#rule === 'local' ? (this.#local?.lost ?? null) : null;
  }

  /** The health of the local engine. */
  get health(): Health {
    return this.#local?.health ?? { state: 'well' };
  }

  /**
   * Calls `listener` after each change of `health`, and when a local engine that still loaded is there. Returns a
   * function that takes the listener off.
   */
  onHealth(listener: (health: Health) => void): () => void {
    let stop: (() => void) | null = () => {};
    const isLater = this.#local === null;
    const listen = (engine: Local | null) => {
      if (!stop || !engine) return;
      stop = engine.onHealth?.(listener) ?? stop;
      if (isLater) listener(this.health); // and there is another `info`
    };
    Promise.resolve(this.#options.local).then(listen, () => {});
    return () => {
      stop?.();
      stop = null;
    };
  }

  /** Answers a conversation. Options are those of both engines. With `n` above 1, an answer never moves. */
  chat(messages: readonly ChatMessage[], options?: EngineChatOptions | null): Answers {
    return this.#answers({ messages, options: options ?? {} });
  }

  /** Continues a text, or ids: those of the model that answers. */
  complete(prompt: string | readonly number[], options?: EngineGenerateOptions | null): Answers {
    return this.#answers({ prompt, options: options ?? {} });
  }

  /** Stops all answers and unloads both engines, a local one that still loads as soon as it is there. */
  async unload(): Promise<void> {
    this.#isUnloaded = true;
    for (const running of this.#running) running.abort();
    await Promise.all([this.#local?.unload(), this.#remote?.unload()]);
  }

  #answers(asked: Asked): Answers {
    const { options } = asked;
    return stoppable(this.#running, options.signal, (signal) =>
      this.#moving({ ...asked, options: { ...options, signal } }, signal),
    );
  }

  async *#moving(asked: Asked, signal: AbortSignal): Answers {
    if (this.#isUnloaded) throw new InvalidRequestError('The engine was unloaded. Make another one.');
    const told = new Told(performance.timeOrigin + performance.now());
    const place = await this.#placeOf(asked, signal);
    const failed = yield* this.#part(asked, place, told, signal);
    if (!failed) return;
    const other = place === 'local' ? 'remote' : 'local';
    const rest = told.rest(asked);
    if (!rest || signal.aborted || !(await this.#mayUse(other, signal))) throw failed.error;
    const { code, message } = failed.error;
    yield { type: 'interrupted', code, message };
    const failedAgain = yield* this.#part({ ...asked, ...rest }, other, told, signal, failed.atMs);
    if (failedAgain) throw failedAgain.error;
  }

  /** One engine's part of an answer. Returns its failure where another engine may go on. */
  async *#part(
    asked: Asked,
    place: Place,
    told: Told,
    signal: AbortSignal,
    lostMs: number | null = null,
  ): AsyncGenerator<EngineEvent, { error: VivaceError; atMs: number } | null, undefined> {
    let engine: AnswerEngine | null = null;
    try {
      engine = await this.#engineAt(place, signal);
      yield { type: 'place', place, info: engine.info };
      if (lostMs !== null) {
        const message = place === 'local' ? 'The answer goes on in this page.' : 'The answer goes on at the server.';
        const { backend } = engine.info;
        yield { type: 'recovered', message, backend, pauseMs: performance.now() - lostMs };
      }
      const { messages = [], prompt, options } = asked;
      const events = prompt === undefined ? engine.chat(messages, options) : engine.complete(prompt, options);
      for await (const event of events) {
        const heard = told.take(event);
        if (heard?.type === 'done') this.metrics = heard.metrics;
        if (heard) yield heard;
      }
      return null;
    } catch (error) {
      if (!isLoss(error, engine) || !mayMove(this.#rule)) throw error;
      if (place === 'remote' && typeof this.#options.remote === 'function') this.#remote = null;
      return { error, atMs: performance.now() };
    }
  }

  /** The place by the rule. Without consent, a rule that leaves the choice chooses this page. */
  async #placeOf(asked: Asked, signal: AbortSignal): Promise<Place> {
    const { messages, prompt, options } = asked;
    const request = { messages, prompt, options, isLoaded: this.#local !== null && !this.#local.lost };
    const place = await placeOf(this.#rule, request, () => this.#loaded(signal).catch(() => null));
    if (place === 'local' || (await this.#mayUse('remote', signal))) return place;
    if (this.#rule === 'remote') throw new InvalidRequestError(NO_CONSENT);
    return 'local';
  }

  async #mayUse(place: Place, signal: AbortSignal): Promise<boolean> {
    if (place === 'local') return this.#options.local !== null;
    return this.#hasConsent || unlessAborted(this.#askConsent, signal);
  }

  async #engineAt(place: Place, signal: AbortSignal): Promise<AnswerEngine> {
    if (place === 'local') return this.#loaded(signal);
    if (!this.#hasConsent) throw new InvalidRequestError(NO_CONSENT);
    return this.#remote ?? unlessAborted(this.#findRemote, signal);
  }

  async #loaded(signal: AbortSignal): Promise<Local> {
    const local = this.#local ?? (await unlessAborted(async () => this.#options.local, signal));
    if (local) return local;
    throw new InvalidRequestError('There is no model in this page. Allow the server, or load a model.');
  }
}

function checkOptions(options: Partial<HybridOptions>): void {
  refuseUnknown(options, ['local', 'remote', 'rule', 'consent']);
  const { local, remote, consent } = options;
  if (typeof local !== 'object') throw new InvalidRequestError('local must be an engine, its load, or null.', 'local');
  if (!remote) throw new InvalidRequestError('remote must be an engine, or a function that finds it.', 'remote');
  if (typeof consent !== 'function')
    throw new InvalidRequestError('consent must be a function that asks the person.', 'consent');
}

/** The call for all who ask while it runs. */
function inOne<T>(call: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= call().finally(() => {
      running = null;
    });
    return running;
  };
}

/**
 * What is waited for: a load, a server or a person, none of which an abort ends.
 * @throws DOMException AbortError as soon as `signal` aborts
 */
async function unlessAborted<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return abortable(wait(), signal);
}

/** True where the other engine may answer. A model that does not load is lost, whatever the reason. */
function isLoss(error: unknown, engine: AnswerEngine | null): error is VivaceError {
  if (error instanceof RemoteError) return true;
  return error instanceof VivaceError && (LOSSES.has(error.code) || (!engine && error.code !== 'invalid-request'));
}

const NO_CONSENT = 'Nothing is sent to the server without consent. Allow it, or use a model in this page.';
