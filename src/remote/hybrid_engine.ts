// One interface over an engine in this page and one that is a server. A rule says which answers; nothing is sent before
// consent was given; an answer whose engine is lost goes on at the other one where the rule allows it.

import type { EngineChatOptions, EngineGenerateOptions } from '../engine/engine';
import type { ChatMessage, EngineEvent, EngineInfo, RunMetrics } from '../engine/protocol';
import { InvalidRequestError, VivaceError } from '../errors';
import { type AnswerEngine, checkRule, type LocalEngine, mayMove, type Place, placeOf, type Rule } from './places';
import { RemoteError } from './remote_error';
import { Told } from './told';

export interface HybridOptions {
  /** The engine of this page, or its load. Null: none. */
  local: LocalEngine | Promise<LocalEngine> | null;
  /** Finds the server, such as `() => RemoteEngine.load(address)`. Called after consent, again after a failure. */
  remote: () => Promise<AnswerEngine>;
  /** Default: `remote-until-loaded`. */
  rule?: Rule;
  /** Asks the person, before anything leaves this machine. Called until it has said true once. */
  consent: () => boolean | Promise<boolean>;
}

/** The tokens that follow come from this place. */
export interface PlaceEvent {
  type: 'place';
  place: Place;
}

export type HybridEvent = EngineEvent | PlaceEvent;
type Answers = AsyncGenerator<HybridEvent, void, undefined>;

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

export class HybridEngine {
  /** The metrics of the newest finished answer, or null before the first. */
  metrics: RunMetrics | null = null;
  readonly #options: HybridOptions;
  readonly #rule: Rule;
  readonly #running = new Set<AbortController>();
  #local: LocalEngine | null = null;
  #remote: AnswerEngine | null = null;
  #hasConsent = false;
  #isUnloaded = false;

  /** @throws InvalidRequestError for a rule that is none */
  constructor(options: HybridOptions) {
    const { rule = 'remote-until-loaded', local } = options;
    checkRule(rule);
    this.#options = options;
    this.#rule = rule;
    Promise.resolve(local).then(
      (engine) => {
        this.#local = engine;
        if (this.#isUnloaded) engine?.unload();
      },
      () => {}, // a request that needs the local engine says why
    );
  }

  /**
   * Of the local model once it is loaded, else of the server's.
   * @throws InvalidRequestError before either has answered
   */
  get info(): EngineInfo {
    const engine = this.#local ?? this.#remote;
    if (engine) return engine.info;
    throw new InvalidRequestError('No engine has answered yet. Wait for the load, or for the first answer.');
  }

  /** Answers a conversation. Options are those of both engines. With `n` above 1, an answer never moves. */
  chat(messages: readonly ChatMessage[], options: EngineChatOptions = {}): Answers {
    return this.#answers({ messages, options });
  }

  /** Continues a text, or ids: those of the model that answers. */
  complete(prompt: string | readonly number[], options: EngineGenerateOptions = {}): Answers {
    return this.#answers({ prompt, options });
  }

  /** Stops all answers and unloads both engines, a local one that still loads as soon as it is there. */
  async unload(): Promise<void> {
    this.#isUnloaded = true;
    for (const running of this.#running) running.abort();
    await Promise.all([this.#local?.unload(), this.#remote?.unload()]);
  }

  #answers(asked: Asked): Answers {
    const { signal } = asked.options;
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    if (signal?.aborted) stop.abort();
    else signal?.addEventListener('abort', onAbort);
    const made = this.#moving({ ...asked, options: { ...asked.options, signal: stop.signal } }, stop, () => {
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(stop);
    });
    const end = made.return.bind(made);
    // By itself a generator returns after the event that it waits for, which may never come.
    made.return = (value) => {
      stop.abort();
      return end(value);
    };
    return made;
  }

  async *#moving(asked: Asked, stop: AbortController, end: () => void): Answers {
    this.#running.add(stop);
    try {
      if (this.#isUnloaded) throw new InvalidRequestError('The engine was unloaded. Make another one.');
      const told = new Told();
      const place = await this.#placeOf(asked);
      const failed = yield* this.#part(asked, place, told);
      if (!failed) return;
      const other = place === 'local' ? 'remote' : 'local';
      const rest = told.rest(asked);
      if (!rest || stop.signal.aborted || !(await this.#mayUse(other))) throw failed.error;
      const { code, message } = failed.error;
      yield { type: 'interrupted', code, message };
      const failedAgain = yield* this.#part({ ...asked, ...rest }, other, told, failed.atMs);
      if (failedAgain) throw failedAgain.error;
    } finally {
      stop.abort(); // whatever still runs
      end();
    }
  }

  /** One engine's part of an answer. Returns its failure where another engine may go on. */
  async *#part(
    asked: Asked,
    place: Place,
    told: Told,
    lostMs: number | null = null,
  ): AsyncGenerator<HybridEvent, { error: VivaceError; atMs: number } | null, undefined> {
    let engine: AnswerEngine | null = null;
    try {
      engine = await this.#engineAt(place);
      yield { type: 'place', place };
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
      if (place === 'remote') this.#remote = null;
      return { error, atMs: performance.now() };
    }
  }

  /** The place by the rule. Without consent, a rule that leaves the choice chooses this page. */
  async #placeOf(asked: Asked): Promise<Place> {
    const { messages, prompt, options } = asked;
    const request = { messages, prompt, options, isLoaded: this.#local !== null };
    const place = await placeOf(this.#rule, request, () => this.#loaded().catch(() => null));
    if (place === 'local' || (await this.#mayUse('remote'))) return place;
    if (this.#rule === 'remote') throw new InvalidRequestError(NO_CONSENT);
    return 'local';
  }

  async #mayUse(place: Place): Promise<boolean> {
    if (place === 'local') return this.#options.local !== null;
    this.#hasConsent ||= (await this.#options.consent()) === true;
    return this.#hasConsent;
  }

  async #engineAt(place: Place): Promise<AnswerEngine> {
    if (place === 'local') return this.#loaded();
    if (!this.#hasConsent) throw new InvalidRequestError(NO_CONSENT);
    this.#remote ??= await this.#options.remote();
    return this.#remote;
  }

  async #loaded(): Promise<LocalEngine> {
    const local = await this.#options.local;
    if (local) return local;
    throw new InvalidRequestError('There is no model in this page. Allow the server, or load a model.');
  }
}

/** True where the other engine may answer. A model that does not load is lost, whatever the reason. */
function isLoss(error: unknown, engine: AnswerEngine | null): error is VivaceError {
  if (error instanceof RemoteError) return true;
  return error instanceof VivaceError && (LOSSES.has(error.code) || (!engine && error.code !== 'invalid-request'));
}

const NO_CONSENT = 'Nothing is sent to the server without consent. Allow it, or use a model in this page.';
