// One answer of a server: chunks to the engine's events, and the times of their arrival to its metrics.

import type { EngineEvent, FinishReason, RunMetrics, Tool } from '../../engine/protocol';
import { summarizeGaps } from '../../engine/tbt';
import { isJsonObject } from '../../shared/json_object';
import type { Clock } from '../clock';
import { RemoteError } from '../remote_error';
import { malformed, parseObject } from '../server/bounded_json';
import { eventFailure } from '../server/failures';
import type { Accepted } from '../server/server';
import { type CallPart, type Chunk, MAX_CALLS, readChunk } from './chunk';
import type { ServerEvent } from './event_stream';
import { networkMetrics } from './network_metrics';

/** Most tokens that a server may count for one chunk, and for an answer. */
const MAX_BURST = 4096;
const MAX_TOKENS = 2 ** 18;

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'eos',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  abort: 'abort',
};

interface Asked {
  choice: number;
  seed: number;
  startMs: number;
  tools: readonly Tool[];
  /** Whether `toolChoice` asks for a call. */
  mustCall: boolean;
  /** The text that the answer continues. llama.cpp's server may say it again. '' without one. */
  begun: string;
  info: Pick<RunMetrics, 'attention' | 'step'>;
}

const NOT_CALLED: EngineEvent = {
  type: 'warning',
  code: 'server-no-call',
  message: 'The server called no tool although toolChoice asks for a call: ask again, or name the tool in the prompt.',
};

export class RemoteAnswer {
  private hasStarted = false;
  private tokens = 0;
  private reasoningTokens = 0;
  /** Arrivals of tokens and of chunks with tokens, in milliseconds of the clock. */
  private firstMs: number | null = null;
  private lastMs = 0;
  private readonly gaps: number[] = [];
  private readonly chunkGaps: number[] = [];
  private chunks = 0;
  private finish: FinishReason | null = null;
  /** The newest that the server told. */
  private counts: Chunk['counts'] = { prompt: null, cached: null, completion: null, reasoning: null };
  private times: Chunk['times'] = null;
  /** With the server's own numbers. Some servers, such as Ollama's, give all calls the same one. */
  private readonly calls: CallPart[] = [];
  /** The part of `asked.begun` that may still be said again. */
  private echo: string;

  constructor(
    private readonly asked: Asked,
    private readonly accepted: Accepted,
    private readonly clock: Clock,
  ) {
    this.echo = asked.begun;
  }

  /** True once the server said why the answer ended. */
  get isComplete(): boolean {
    return this.finish !== null;
  }

  /** @throws RemoteError for data that is none of this interface, and for the server's own errors */
  *take({ data, name, atMs }: ServerEvent): Generator<EngineEvent, void, undefined> {
    const json = parseObject(data);
    if (name === 'error' || json.error != null) throw eventFailure(json);
    const chunk = readChunk(json);
    this.learn(chunk);
    this.dropEcho(chunk);
    const { progress, reasoning, calls } = chunk;
    if (!this.hasStarted && tellsSomething(chunk)) yield this.start(progress?.cached ?? this.counts.cached ?? 0);
    if (progress)
      yield { type: 'prefill', done: progress.processed - progress.cached, total: progress.total - progress.cached };
    yield* this.tokensOf(chunk, atMs);
    if (reasoning) yield { type: 'reasoning', text: reasoning };
    for (const part of calls) yield* this.call(part);
    if (chunk.finish) this.end(chunk);
  }

  /** The last event. What the server did not count was counted here. */
  *done(finishReason: FinishReason = this.finish ?? 'eos'): Generator<EngineEvent, void, undefined> {
    if (!this.hasStarted) yield this.start(this.counts.cached ?? 0);
    if (finishReason !== 'abort') {
      yield* this.callErrors();
      if (this.asked.mustCall && this.calls.length === 0) yield NOT_CALLED;
    }
    const { prompt, cached, completion, reasoning } = this.counts;
    yield {
      type: 'done',
      text: '',
      finishReason,
      seed: this.asked.seed,
      usage: {
        promptTokens: prompt ?? 0,
        cachedTokens: Math.min(cached ?? 0, prompt ?? 0),
        completionTokens: completion ?? this.tokens,
        reasoningTokens: reasoning ?? this.reasoningTokens,
      },
      metrics: this.metrics(),
    };
  }

  /** Skips the continued text, if the server says it again. The server counts no token for it. */
  private dropEcho(chunk: Chunk): void {
    if (this.echo === '' || chunk.text === '') return;
    const isEcho = this.echo.startsWith(chunk.text) && this.counts.completion === 0;
    this.echo = isEcho ? this.echo.slice(chunk.text.length) : '';
    if (isEcho) chunk.text = '';
  }

  private start(cachedTokens: number): EngineEvent {
    this.hasStarted = true;
    return { type: 'start', choice: this.asked.choice, promptIds: [], cachedTokens };
  }

  private learn({ counts, times }: Chunk): void {
    const { prompt, cached, completion, reasoning } = this.counts;
    this.counts = {
      prompt: counts.prompt ?? prompt,
      cached: counts.cached ?? cached,
      completion: counts.completion ?? completion,
      reasoning: counts.reasoning ?? reasoning,
    };
    this.times = times ?? this.times;
  }

  /**
   * The tokens of a chunk. The first has the text; all others came with it, after no time. A server that does not count
   * sends one token a chunk, as far as anyone can tell.
   */
  private *tokensOf(chunk: Chunk, atMs: number): Generator<EngineEvent, void, undefined> {
    const n = this.countOf(chunk);
    if (n === 0) return;
    if (this.tokens + n > MAX_TOKENS) throw malformed(`sent more than ${MAX_TOKENS} tokens`);
    if (this.chunks++ > 0) this.chunkGaps.push(atMs - this.lastMs);
    for (let i = 0; i < n; i++) {
      const tbtMs = this.firstMs === null ? null : atMs - this.lastMs;
      this.firstMs ??= atMs;
      this.lastMs = atMs;
      if (tbtMs !== null) this.gaps.push(tbtMs);
      const logprobs = chunk.logprobs[i];
      yield {
        type: 'token',
        id: chunk.ids?.[i] ?? logprobs?.chosen.id ?? -1,
        text: i === 0 ? chunk.text : '',
        tbtMs,
        position: (this.counts.prompt ?? 0) + this.tokens++,
        atMs: this.clock.epochMs + atMs,
        inFlightMs: tbtMs ?? atMs - this.accepted.sentMs,
        workerMs: null,
        ...(logprobs && { logprobs }),
      };
    }
    if (chunk.reasoning) this.reasoningTokens += n;
  }

  private countOf(chunk: Chunk): number {
    const { isOfChoice, logprobs, ids, counts, finish } = chunk;
    if (ids) return ids.length;
    if (logprobs.length > 0) return logprobs.length;
    const told = counts.completion === null ? 0 : counts.completion - this.tokens;
    const isHeldBack = isOfChoice && finish === '' && told > 0; // half a character, or the beginning of a marker
    if (!isShown(chunk)) return isHeldBack ? Math.min(told, MAX_BURST) : 0;
    return Math.min(Math.max(told, 1), MAX_BURST);
  }

  /** A part of the newest call of its number, or the beginning of a call: another id with a name. */
  private *call(part: CallPart): Generator<EngineEvent, void, undefined> {
    const { calls } = this;
    const { name, arguments: text } = part;
    const at = calls.findLastIndex(({ index }) => index === part.index);
    if (at >= 0 && !(name && part.id && part.id !== calls[at].id)) {
      calls[at].arguments += text;
      yield { type: 'tool-call', index: at, arguments: text };
    } else if (calls.length < MAX_CALLS) {
      const index = calls.length;
      const id = part.id || `call_${this.asked.choice}_${index}`;
      calls.push({ ...part, id });
      yield { type: 'tool-call', index, id, name, arguments: text };
    }
  }

  /** Calls that cannot be made, as the local engine tells them. */
  private *callErrors(): Generator<EngineEvent, void, undefined> {
    for (const [index, call] of this.calls.entries()) {
      const message = this.fault(call);
      if (message) yield { type: 'tool-call-error', index, message, text: call.arguments };
    }
  }

  /** Why a call cannot be made, or ''. */
  private fault({ name, arguments: text }: CallPart): string {
    const shown = `"${name.slice(0, 80)}"`;
    if (!this.asked.tools.some((tool) => tool.name === name)) return `There is no tool ${shown}.`;
    return isObject(text) ? '' : `The arguments of ${shown} are no JSON object.`;
  }

  private end({ finish, isStopText }: Chunk): void {
    const known = Object.hasOwn(FINISH, finish) ? FINISH[finish] : 'stop';
    // vLLM's word where a tool was named. A call that cannot be made is no call, as in the local engine.
    const isCalling = known === 'eos' && this.calls.some((call) => !this.fault(call));
    this.finish = isCalling ? 'tool-calls' : known === 'eos' && isStopText ? 'stop' : known;
  }

  private metrics(): RunMetrics {
    const { asked, accepted, gaps, chunkGaps, firstMs, lastMs, times, chunks, tokens } = this;
    const ttftMs = firstMs === null ? null : firstMs - asked.startMs;
    const decodeMs = firstMs === null ? 0 : lastMs - firstMs;
    const read = times?.promptTokens ?? null;
    return {
      attention: asked.info.attention,
      step: asked.info.step,
      ttftMs,
      tokenizeMs: 0,
      prefillMs: times?.promptMs ?? 0,
      prefillTokensPerSecond: times && read !== null && times.promptMs > 0 ? (read * 1000) / times.promptMs : null,
      decodeTokensPerSecond: decodeMs > 0 ? (gaps.length * 1000) / decodeMs : null,
      tbtMs: summarizeGaps(gaps),
      perToken: null,
      runAhead: 0,
      peakGpuBytes: null,
      network: networkMetrics({
        accepted,
        firstMs,
        decodeMs,
        chunks,
        chunkGaps,
        times,
        tokens: this.counts.completion ?? tokens,
      }),
    };
  }
}

/** False for a chunk that only names the author. */
function tellsSomething(chunk: Chunk): boolean {
  const { progress, finish, counts, isOfChoice } = chunk;
  return isShown(chunk) || progress !== null || finish !== '' || counts.prompt !== null || !isOfChoice;
}

function isShown({ text, reasoning, calls }: Chunk): boolean {
  return text !== '' || reasoning !== '' || calls.length > 0;
}

/** The error of an answer that ended before the server said why. */
export function cutShort(): RemoteError {
  return new RemoteError('server-cut', 'The server ended its answer before it was complete. Try again.');
}

function isObject(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
