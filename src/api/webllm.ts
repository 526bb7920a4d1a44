// The package's entry vivace/webllm: the part of WebLLM's interface that pages use, over the fetch of vivace/openai.

import type { LoadProgress, RunMetrics } from '../engine/protocol';
import type { ApiEngine, EngineEvent } from './api_engine';
import { createFetch } from './openai/fetch';

type LoadedEngine = ApiEngine & { unload(): Promise<void> };
/** `progress`: from 0 to 1. `timeElapsed`: in seconds. */
export type InitProgressCallback = (report: { progress: number; timeElapsed: number; text: string }) => void;

export interface MLCEngineConfig {
  /** Loads a model by the name that the page gives: `Engine.load`, or a function that maps the page's names. */
  load: (
    model: string,
    options: { onProgress: (progress: LoadProgress) => void; signal: AbortSignal },
  ) => Promise<LoadedEngine>;
  initProgressCallback?: InitProgressCallback;
}

/** A request in OpenAI's shape. */
type Request = Readonly<Record<string, unknown>>;

/** A completion or a chunk of one: what pages read of it. All other fields are OpenAI's too. */
export interface Completion {
  choices: {
    finish_reason: string | null;
    message: { content: string | null; tool_calls?: unknown[] };
    delta: { content?: string; tool_calls?: unknown[] };
    text: string;
  }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number; extra: UsageExtra };
}

/** Vectors: what pages read of them. */
export interface Embeddings {
  data: { embedding: number[]; index: number }[];
  usage: { prompt_tokens: number; total_tokens: number; extra: UsageExtra };
}

/** The speed of an answer; of several answers to one request, of the last. NaN where nothing was measured. */
export interface UsageExtra {
  /** From the request to this object. */
  e2e_latency_s: number;
  prefill_tokens_per_s: number;
  decode_tokens_per_s: number;
  time_to_first_token_s: number;
  time_per_output_token_s: number;
}

/** An answer of the fetch: a completion or a chunk before its speed is added, vectors, or an error. */
interface Wire {
  error?: { message: string };
  usage?: object | null;
  vivace?: { metrics?: RunMetrics };
}

interface Create {
  (request: Request & { stream: true }): Promise<AsyncGenerator<Completion, void, undefined>>;
  (request: Request & { stream?: false | null }): Promise<Completion>;
}

/** @param chatOpts refused, as in `reload` */
export async function CreateMLCEngine(model: string, config: MLCEngineConfig, chatOpts?: null): Promise<MLCEngine> {
  const engine = new MLCEngine(config);
  await engine.reload(model, chatOpts);
  return engine;
}

export class MLCEngine {
  readonly chatCompletion = ((request) => this.post('chat/completions', request)) as Create;
  readonly completion = ((request) => this.post('completions', request)) as Create;
  readonly embedding = (request: Request) => this.post('embeddings', request) as Promise<Embeddings>;
  readonly chat = { completions: { create: this.chatCompletion } };
  readonly completions = { create: this.completion };
  readonly embeddings = { create: this.embedding };
  private engine: LoadedEngine | null = null;
  private fetch: ReturnType<typeof createFetch> | null = null;
  private interruption = new AbortController();
  /** Ends the load that runs. */
  private loading = new AbortController();
  private message = '';
  private metrics: RunMetrics | null = null;

  /** @throws Error for fields of WebLLM's that change the answers and cannot be done, such as `appConfig` */
  constructor(private config: MLCEngineConfig) {
    if (typeof config?.load !== 'function') throw new TypeError('The config needs load, such as Engine.load.');
    refuse(config, ['appConfig', 'logitProcessorRegistry'], 'Map names and pass options in load.');
  }

  setInitProgressCallback(initProgressCallback: InitProgressCallback): void {
    this.config = { ...this.config, initProgressCallback };
  }

  /**
   * @param chatOpts refused: load options belong to `load`, options of an answer to the request
   * @throws DOMException AbortError where unload() or another reload() comes before the model is there
   */
  async reload(model: string, chatOpts?: null): Promise<void> {
    refuse({ chatOpts }, ['chatOpts'], 'Pass load options in load, and options of an answer in the request.');
    if (typeof model !== 'string') throw new TypeError('An MLCEngine has one model. Pass its name as a string.');
    const unloading = this.unload();
    const { signal } = this.loading;
    await unloading;
    signal.throwIfAborted();
    const start = performance.now();
    const report = (progress: number, what: string) => {
      const timeElapsed = (performance.now() - start) / 1000;
      const text = `${what}: ${Math.floor(progress * 100)}%, ${timeElapsed.toFixed(0)} s.`;
      this.config.initProgressCallback?.({ progress, timeElapsed, text });
    };
    const onProgress = ({ stage, loadedBytes, totalBytes }: LoadProgress) => {
      if (stage !== 'ready') report(totalBytes > 0 ? loadedBytes / totalBytes : 0, `Loading the model (${stage})`);
    };
    const engine = await this.config.load(model, { onProgress, signal });
    if (signal.aborted) await engine.unload(); // the loader does not heed the signal
    signal.throwIfAborted();
    this.engine = engine;
    this.fetch = createFetch({
      get info() {
        return engine.info; // a recovery may change it
      },
      chat: (messages, options) => this.listen(engine.chat(messages, { ...options, signal: this.stop(options) })),
      complete: (prompt, options) => this.listen(engine.complete(prompt, { ...options, signal: this.stop(options) })),
      embed: engine.embed && ((texts, options) => engine.embed!(texts, { ...options, signal: this.stop(options) })),
    });
    report(1, 'Finish loading'); // WebLLM's words: pages look for them
  }

  async unload(): Promise<void> {
    const { engine } = this;
    this.loading.abort(new DOMException('Another reload(), or unload(), ended the load.', 'AbortError'));
    this.loading = new AbortController();
    this.engine = this.fetch = null;
    await this.resetChat();
    await engine?.unload();
  }

  /** Ends the answers that run. They keep what they have. */
  interruptGenerate(): void {
    this.interruption.abort();
    this.interruption = new AbortController();
  }

  /** Forgets the message, and the figures unless they are kept. Conversations are in the requests. */
  async resetChat(keepStats = false): Promise<void> {
    this.message = '';
    if (!keepStats) this.metrics = null;
  }

  async getMessage(): Promise<string> {
    return this.message;
  }

  async runtimeStatsText(): Promise<string> {
    const rate = (value: number | null = null) => `${value?.toFixed(4) ?? '-'} tokens/sec`;
    return `prefill: ${rate(this.metrics?.prefillTokensPerSecond)}, decode: ${rate(this.metrics?.decodeTokensPerSecond)}`;
  }

  private stop({ signal }: { signal?: AbortSignal } = {}): AbortSignal {
    return signal ? AbortSignal.any([signal, this.interruption.signal]) : this.interruption.signal;
  }

  private async *listen(events: AsyncIterable<EngineEvent>): AsyncGenerator<EngineEvent, void, undefined> {
    this.message = '';
    for await (const event of events) {
      if (event.type === 'token' || event.type === 'done') this.message += event.text;
      if (event.type === 'done') this.metrics = event.metrics;
      yield event;
    }
  }

  private async post(path: string, given: Request): Promise<unknown> {
    const { extra_body, ...request } = given ?? {}; // as if it were empty: the answer says which field is missing
    if (!this.fetch) throw new Error('No model is loaded. Call reload() first.');
    refuse((extra_body ?? {}) as object, ['enable_latency_breakdown', 'resumable'], 'Leave it out of extra_body.');
    const asked = withFormat(request);
    const body = JSON.stringify(extra_body ? { ...asked, chat_template_kwargs: extra_body } : asked);
    const speed = new Speed();
    const response = await this.fetch(`http://vivace/v1/${path}`, { method: 'POST', body });
    if (!request.stream || !response.ok) return speed.addTo(checked(await response.json()));
    return chunksOf(response.body as ReadableStream<Uint8Array>, speed);
  }
}

/** The speed of one request, which WebLLM tells in the usage. */
class Speed {
  private readonly startMs = performance.now();
  private metrics: RunMetrics | null = null;

  /** Adds the speed to the usage, if there is one. In a stream the figures come before the usage. */
  addTo(answer: Wire): Wire {
    this.metrics = answer.vivace?.metrics ?? this.metrics;
    if (!answer.usage) return answer;
    const { prefillTokensPerSecond, decodeTokensPerSecond, ttftMs } = this.metrics ?? ({} as Partial<RunMetrics>);
    const extra: UsageExtra = {
      e2e_latency_s: (performance.now() - this.startMs) / 1000,
      prefill_tokens_per_s: prefillTokensPerSecond ?? Number.NaN,
      decode_tokens_per_s: decodeTokensPerSecond ?? Number.NaN,
      time_to_first_token_s: (ttftMs ?? Number.NaN) / 1000,
      time_per_output_token_s: 1 / (decodeTokensPerSecond ?? Number.NaN),
    };
    return { ...answer, usage: { ...answer.usage, extra } };
  }
}

/** @throws Error for a field that is there and asks for something */
function refuse(given: object, fields: readonly string[], remedy: string): void {
  for (const field of fields)
    if ((given as Request)[field]) throw new Error(`${field} is not supported here. ${remedy}`);
}

/**
 * WebLLM's formats: a schema is a text, and a grammar is a type.
 * @throws SyntaxError for a schema that is no JSON; Error for a schema or a grammar of another type, and for none
 */
function withFormat({ response_format: format, ...request }: Request): Request {
  const { type, schema, grammar } = (format ?? {}) as Request;
  const isGrammar = type === 'grammar';
  if (isGrammar === !grammar) throw new Error('response_format.grammar needs the type grammar, which needs it.');
  if (schema != null && type !== 'json_object') throw new Error('response_format.schema needs the type json_object.');
  if (isGrammar) return { ...request, grammar };
  if (typeof schema !== 'string') return { ...request, response_format: format };
  return { ...request, response_format: { type, schema: JSON.parse(schema) } };
}

/** @throws an Error with the message and code of an answer that is one */
function checked(answer: Wire): Wire {
  if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
  return answer;
}

/** The chunks of a stream. A caller that leaves early stops the engine. */
async function* chunksOf(body: ReadableStream<Uint8Array>, speed: Speed): AsyncGenerator<unknown, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (let rest = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        if (event !== 'data: [DONE]') yield speed.addTo(checked(JSON.parse(event.slice('data: '.length))));
      }
    }
  } finally {
    await reader.cancel();
  }
}
