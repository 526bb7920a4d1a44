// What chat completions and completions share: an answer as one object, or as a stream of chunks.

import type { EngineEvent } from './api_engine';
import type { Fields } from './fields';
import type { Inbox } from './inbox';
import { describeError } from './openai_errors';
import { append, emptyPiece, hasPart, type Logprobs, type Piece, Pieces, type TokenTimes, UsageSum } from './pieces';
import { dataEvent, eventStream, type StreamWriter } from './sse';
import { Timings } from './timings';

/** How a route writes pieces. */
export interface Form {
  /** The beginning of ids. */
  id: string;
  object: string;
  chunkObject: string;
  /** The fields of a choice that continue it. */
  part(piece: Piece, isFirst: boolean): object;
  /** The fields of a whole choice. */
  whole(answer: Piece): object;
  /** Of a piece of a choice. */
  logprobs(piece: Piece): object;
}

/** What a request asks of its answer. */
export interface AnswerRequest {
  model: string;
  form: Form;
  isStream: boolean;
  withUsage: boolean;
  withLogprobs: boolean;
  withProgress: boolean;
  withTimings: boolean;
  maxCalls: number;
  answersPerPrompt: number;
  prompts: number;
  signal: AbortSignal | undefined;
}

/** The fields that say how an answer is sent. */
export function readSending(body: Fields) {
  const isStream = body.flag('stream') ?? false;
  const options = body.object('stream_options');
  if (options && !isStream) throw body.wrong('stream_options', 'needs stream: true');
  return {
    isStream,
    withUsage: options?.flag('include_usage') ?? false,
    withProgress: body.flag('return_progress') ?? false,
    withTimings: body.flag('timings_per_token') ?? false,
  };
}

export async function answer(inbox: Inbox, request: AnswerRequest): Promise<Response> {
  await inbox.accepted();
  const completion = new Completion(request);
  if (request.isStream) return eventStream(inbox, completion, request.signal);
  for (;;) {
    const events = await inbox.take();
    if (!events) return Response.json(completion.whole());
    completion.collect(events);
  }
}

export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return prefix + Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export function wireLogprobs({ chosen, top }: Logprobs): object {
  return { ...chosen, top_logprobs: top };
}

const FINISH = {
  eos: 'stop',
  stop: 'stop',
  abort: 'stop',
  length: 'length',
  context: 'length',
  'tool-calls': 'tool_calls',
} as const;

class Completion implements StreamWriter {
  private readonly pieces: Pieces;
  private readonly usage: UsageSum;
  private readonly timings = new Timings();
  private readonly startMs = performance.now();
  private readonly head: object;
  /** The choices of an answer that is not streamed. */
  private readonly choices: Piece[] = [];
  /** The choices of a stream. */
  private readonly begun = new Set<number>();
  private ended = 0;

  constructor(private readonly request: AnswerRequest) {
    const { form, isStream, withUsage, model } = request;
    const object = isStream ? form.chunkObject : form.object;
    const head = { id: newId(form.id), object, created: nowSeconds(), model };
    this.head = isStream && withUsage ? { ...head, usage: null } : head;
    this.pieces = new Pieces(request.maxCalls);
    this.usage = new UsageSum(request.answersPerPrompt);
  }

  collect(events: readonly EngineEvent[]): void {
    for (const piece of this.pieces.fold(events)) {
      this.count(piece);
      const begun = this.choices[piece.choice];
      if (begun) append(begun, piece);
      else this.choices[piece.choice] = piece;
    }
  }

  whole(): object {
    this.assertComplete();
    const choices = this.choices.map((answer) => ({
      index: answer.choice,
      ...this.request.form.whole(answer),
      logprobs: this.logprobs(answer),
      finish_reason: answer.done && FINISH[answer.done.finishReason],
    }));
    const last = this.choices[this.choices.length - 1];
    return { ...this.head, choices, usage: this.wireUsage(), ...this.extensions(last, []) };
  }

  write(events: readonly EngineEvent[]): string {
    const pieces = this.pieces.fold(events);
    return pieces.map((piece) => this.chunks(piece)).join('');
  }

  end(): string {
    this.assertComplete();
    const usage = this.request.withUsage ? dataEvent({ ...this.head, choices: [], usage: this.wireUsage() }) : '';
    return `${usage}data: [DONE]\n\n`;
  }

  fail(error: unknown): string {
    return dataEvent(describeError(error).body);
  }

  /** The end of a choice is a chunk of its own, since clients may stop reading at a finish reason. */
  private chunks(piece: Piece): string {
    this.count(piece);
    const { choice, done, progress, tokens } = piece;
    const empty = emptyPiece(choice);
    let text = '';
    if (progress && this.request.withProgress) text += this.chunk(empty, null, this.progress(progress));
    const isShown = hasPart(piece);
    if (isShown) text += this.chunk(piece, null, this.extensions({ ...piece, done: undefined }, tokens));
    if (done) text += this.chunk(empty, FINISH[done.finishReason], this.extensions(piece, isShown ? [] : tokens));
    return text;
  }

  private chunk(piece: Piece, finishReason: string | null, extensions: object): string {
    const { choice: index } = piece;
    const part = this.request.form.part(piece, !this.begun.has(index));
    this.begun.add(index);
    const choice = { index, ...part, logprobs: this.logprobs(piece), finish_reason: finishReason };
    return dataEvent({ ...this.head, choices: [choice], ...extensions });
  }

  private count(piece: Piece): void {
    this.usage.add(piece);
    if (piece.done) this.ended++;
  }

  private assertComplete(): void {
    const { prompts, answersPerPrompt } = this.request;
    if (this.ended < prompts * answersPerPrompt) throw new Error('The engine ended the answer before it was done.');
  }

  private logprobs(piece: Piece): object | null {
    const { form, withLogprobs } = this.request;
    return withLogprobs && piece.logprobs.length > 0 ? form.logprobs(piece) : null;
  }

  private extensions(piece: Piece, tokens: readonly TokenTimes[]): object {
    const { callErrors, done } = piece;
    const vivace = {
      ...(tokens.length > 0 && { tokens }),
      ...(callErrors.length > 0 && { tool_call_errors: callErrors }),
      ...(done && { seed: done.seed, metrics: done.metrics }),
    };
    return { vivace, ...(this.request.withTimings && { timings: this.timings.add(piece, this.pieces) }) };
  }

  private progress({ cached, done, total }: NonNullable<Piece['progress']>): object {
    const time_ms = Math.round(performance.now() - this.startMs);
    return { prompt_progress: { total: cached + total, cache: cached, processed: cached + done, time_ms } };
  }

  private wireUsage(): object {
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens, totalTokens } = this.usage;
    return {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: totalTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    };
  }
}
