// The package's entry vivace/remote: the engine's interface over a server with OpenAI's. The model, the GPU and the
// chat template are the server's; events, options and errors are those of `Engine`.

import type { EngineChatOptions, EngineGenerateOptions } from '../engine/engine';
import type { Health } from '../engine/health';
import { resolveOptions } from '../engine/option_values';
import { BESIDE, GENERATE_OPTIONS } from '../engine/options';
import type { ChatMessage, EngineInfo, GenerateInput, RunMetrics } from '../engine/protocol';
import { InvalidRequestError } from '../errors';
import { eventsOf, STREAM_BOUNDS } from './answer/event_stream';
import { cutShort, RemoteAnswer } from './answer/remote_answer';
import { checkOptions, type RemoteOptions, type ServerKind } from './options';
import { type RequestBody, requestBody } from './request/request_body';
import { type ModelCard, readCard } from './server/model_card';
import { Server } from './server/server';
import { type Answers, stoppable } from './stoppable';

export type { NetworkMetrics, Place } from '../engine/protocol';
export { HybridEngine, type HybridOptions } from './hybrid/hybrid_engine';
export type { AnswerEngine, LocalEngine, PlacedRequest, Rule } from './hybrid/places';
export type { RemoteOptions, ServerKind } from './options';
export { type RemoteCode, RemoteError } from './remote_error';

export class RemoteEngine {
  /** The metrics of the newest finished answer, or null before the first. */
  metrics: RunMetrics | null = null;
  readonly info: EngineInfo;
  readonly kind: ServerKind;
  /** The names of the models that the server lists. */
  readonly models: readonly string[];
  /** A server that fails tells it with each answer, and may be well at the next. */
  readonly lost = null;
  readonly health: Health = { state: 'well' };
  readonly #server: Server;
  /** Many servers know the older name alone. Newer models of OpenAI refuse it and ask for the other one. */
  #tokensName: 'max_tokens' | 'max_completion_tokens' = 'max_tokens';
  /** One for each request that runs. */
  readonly #running = new Set<AbortController>();
  #isUnloaded = false;

  private constructor(server: Server, { kind, info, models }: ModelCard) {
    this.#server = server;
    this.kind = kind;
    this.models = models;
    this.info = info;
  }

  /**
   * Asks a server for its models, and starts nothing there.
   * @param address such as `http://localhost:8080/v1`
   * @throws VivaceError with a `code`; DOMException AbortError when `signal` aborts
   */
  static async load(address: string, given?: RemoteOptions | null): Promise<RemoteEngine> {
    const options = given ?? {};
    checkOptions(options);
    const server = new Server(address, options);
    const startMs = server.clock.now();
    const list = await server.json('/models', undefined, options.signal ?? new AbortController().signal);
    return new RemoteEngine(server, readCard(list, server, options, server.clock.now() - startMs));
  }

  /** Answers a conversation through the chat template of the server. */
  chat(messages: readonly ChatMessage[], options?: EngineChatOptions | null): Answers {
    const { tools, toolChoice, templateArguments, continueLast, ...others } = options ?? {};
    return this.#answers({ messages, tools, toolChoice, templateArguments, continueLast }, others);
  }

  /** Continues a text, or ids. */
  complete(prompt: string | readonly number[], options?: EngineGenerateOptions | null): Answers {
    return this.#answers(typeof prompt === 'string' ? { prompt } : { ids: prompt }, options ?? {});
  }

  /** Never calls the listener: the health of a server's engine does not change. */
  onHealth(_listener: (health: Health) => void): () => void {
    return () => {};
  }

  /** Stops all answers. */
  async unload(): Promise<void> {
    this.#isUnloaded = true;
    for (const running of this.#running) running.abort();
  }

  /** One after another, each with a seed of its own. An abort ends with `done`, as it does at the local engine. */
  #answers(input: GenerateInput, { signal, ...options }: EngineGenerateOptions): Answers {
    return stoppable(this.#running, signal, (stop) => this.#all(input, options, stop));
  }

  async *#all(input: GenerateInput, options: EngineGenerateOptions, stop: AbortSignal): Answers {
    const { n = 1, seed = randomSeed(), ...others } = options;
    const isSeeded = options.seed !== undefined;
    try {
      if (this.#isUnloaded) throw new InvalidRequestError('The engine was unloaded. Load another one.');
      resolveOptions(GENERATE_OPTIONS, options, BESIDE['messages' in input ? 'chat' : 'complete']);
      for (let choice = 0; choice < n && !(choice > 0 && stop.aborted); choice++)
        yield* this.#one(input, { ...others, seed: (seed + choice) >>> 0, isSeeded }, choice, stop);
    } catch (error) {
      throw this.#server.cleaned(error);
    }
  }

  async *#one(
    input: GenerateInput,
    { isSeeded, ...options }: Omit<EngineGenerateOptions, 'n' | 'signal'> & { seed: number; isSeeded: boolean },
    choice: number,
    signal: AbortSignal,
  ): Answers {
    const { info, kind } = this;
    const { clock, timing } = this.#server;
    // Among servers that say no more than OpenAI's interface, some refuse a seed.
    const sent = this.kind === 'openai' && !isSeeded ? { ...options, seed: undefined } : options;
    const { path, body, warnings } = requestBody(input, sent, info.model.name, kind);
    if (choice === 0) for (const message of warnings) yield { type: 'warning', code: 'server-option', message };
    const startMs = clock.now();
    const asked = { choice, seed: options.seed, startMs, ...toolsOf(input), begun: begunBy(input), info };
    const accepted = await this.#accepted(path, body, signal);
    let isComplete = false;
    const answer = new RemoteAnswer(asked, accepted ?? NOT_ACCEPTED, clock);
    if (accepted) {
      const bounds = { ...STREAM_BOUNDS, silenceMs: timing.silenceMs };
      for await (const event of eventsOf(this.#server.events(accepted), clock, bounds, signal)) {
        isComplete = event.data === '[DONE]';
        if (isComplete) break;
        yield* answer.take(event);
      }
      isComplete ||= answer.isComplete;
      if (!isComplete && !signal.aborted) throw cutShort();
    }
    for (const event of answer.done(isComplete ? undefined : 'abort')) {
      if (event.type === 'done') this.metrics = event.metrics;
      yield event;
    }
    if (options.gpuTimes) yield { type: 'gpuTimes', gpuMs: null };
  }

  /** Null after an abort. */
  async #accepted(path: string, { max_tokens, ...rest }: RequestBody['body'], signal: AbortSignal) {
    const send = (name: 'max_tokens' | 'max_completion_tokens') =>
      this.#server.send(path, { ...rest, [name]: max_tokens }, signal);
    const name = this.#tokensName;
    try {
      return await send(name).catch((error: unknown) => {
        if (name !== 'max_tokens' || max_tokens === undefined || !asksForCompletionTokens(error)) throw error;
        this.#tokensName = 'max_completion_tokens';
        return send(this.#tokensName);
      });
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }
}

/** "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead." */
const asksForCompletionTokens = (error: unknown): boolean =>
  error instanceof InvalidRequestError && error.message.includes('max_completion_tokens');

/** The text that an answer continues, or ''. */
function begunBy(input: GenerateInput): string {
  return ('messages' in input && input.continueLast && input.messages[input.messages.length - 1]?.content) || '';
}

function toolsOf(input: GenerateInput) {
  const { tools = [], toolChoice = 'auto' } = 'messages' in input ? input : {};
  return { tools, mustCall: tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none' };
}

/** For an answer that was stopped before it began. */
const NOT_ACCEPTED = { response: new Response(), sentMs: 0, acceptedMs: 0, tries: 1 };

/** Below 2^31: to llama.cpp the largest seeds mean a random one. */
function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] >>> 1;
}
