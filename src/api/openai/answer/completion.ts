// What chat completions and completions share: an answer as one object, or as a stream of chunks.

import type { EngineEvent } from '../../api_engine';
import { describeError, invalid } from '../http/errors';
import type { ApiCall } from '../http/http_request';
import type { SharedRequest } from '../http/wire_types';
import { Inbox } from './inbox';
import { emptyPiece, hasPart, type Logprobs, type Piece, Pieces, type TokenTimes } from './pieces';
import { dataEvent, eventStream, type StreamWriter } from './sse';
import { Timings } from './timings';

/** The form in which a route writes an answer. */
export interface Form {
  /** The beginning of ids. */
  id: string;
  object: string;
  chunk: string;
  /** The fields of a choice: of the next chunk, or of the whole answer. */
  write(piece: Piece, isFirst: boolean, isChunk: boolean): object;
}

/** Answers a request. `prompts`: how many it has. */
export async function answer(
  { json, model, signal }: ApiCall,
  form: Form,
  prompts: number,
  start: (signal: AbortSignal) => AsyncIterable<EngineEvent>,
): Promise<Response> {
  const body = json as SharedRequest;
  if (body.stream_options && !body.stream) throw invalid('stream_options', 'needs stream: true');
  const completion = new Completion(body, model, form, prompts);
  const inbox = new Inbox(start, signal);
  await inbox.accepted();
  if (body.stream) return eventStream(inbox, completion, signal);
  return Response.json(completion.whole(await takeAll(inbox)));
}

/** The events of a whole answer. */
export async function takeAll(inbox: Inbox): Promise<EngineEvent[]> {
  const all: EngineEvent[] = [];
  for (let events = await inbox.take(); events; events = await inbox.take())
    for (const event of events) all.push(event);
  return all;
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

export function assertComplete(isComplete: boolean): void {
  if (!isComplete) throw new Error('The engine ended the answer before it was done.');
}

/** Finish reasons that are not `stop`. OpenAI's interface has no word for a stopped answer: `abort` is vLLM's. */
const FINISH: Partial<Record<string, string>> = {
  length: 'length',
  context: 'length',
  'tool-calls': 'tool_calls',
  abort: 'abort',
};

class Completion implements StreamWriter {
  private readonly pieces: Pieces;
  private readonly timings = new Timings();
  private readonly startMs = performance.now();
  private readonly head: object;
  /** The choices that have begun, and how many have ended. */
  private readonly begun = new Set<number>();
  private ended = 0;
  /** True once an answer was stopped: no further one comes. */
  private isStopped = false;
  private readonly usage = {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };

  constructor(
    private readonly body: SharedRequest,
    model: string,
    private readonly form: Form,
    private readonly prompts: number,
  ) {
    const { stream, stream_options } = body;
    const object = stream ? form.chunk : form.object;
    const usage = stream && stream_options?.include_usage ? { usage: null } : {};
    this.head = { id: newId(form.id), object, created: nowSeconds(), model, ...usage };
    this.pieces = new Pieces(body.parallel_tool_calls === false, !stream);
  }

  whole(events: readonly EngineEvent[]): object {
    const answers = this.pieces.fold(events);
    const choices = answers.map((piece) => {
      this.count(piece);
      const { choice: index, done } = piece;
      return { index, ...this.form.write(piece, true, false), finish_reason: done && finishReason(piece) };
    });
    this.assertComplete();
    const callErrors = answers.flatMap((piece) => piece.callErrors);
    return {
      ...this.head,
      choices,
      usage: this.usage,
      ...this.extensions({ ...answers[answers.length - 1], callErrors }),
    };
  }

  write(events: readonly EngineEvent[]): string {
    const pieces = this.pieces.fold(events);
    return pieces.map((piece) => this.chunks(piece)).join('');
  }

  end(): string {
    this.assertComplete();
    const { head, usage } = this;
    return `${'usage' in head ? dataEvent({ ...head, choices: [], usage }) : ''}data: [DONE]\n\n`;
  }

  fail(error: unknown): string {
    return dataEvent(describeError(error, { ...this.body }).body);
  }

  /** The end of a choice is a chunk of its own, since clients may stop reading at a finish reason. */
  private chunks(piece: Piece): string {
    this.count(piece);
    const { choice, done, progress, tokens } = piece;
    const empty = emptyPiece(choice);
    const isShown = hasPart(piece);
    /** The last tokens of an answer may show nothing. */
    const end = { ...empty, logprobs: isShown ? [] : piece.logprobs };
    let text = '';
    if (progress && this.body.return_progress)
      text += this.chunk(empty, null, { prompt_progress: { ...progress, time_ms: performance.now() - this.startMs } });
    if (isShown) text += this.chunk(piece, null, this.extensions({ ...piece, done: undefined }));
    if (done) text += this.chunk(end, finishReason(piece), this.extensions(piece, isShown ? [] : tokens));
    return text;
  }

  private chunk(piece: Piece, finish_reason: string | null, extensions: object): string {
    const { choice: index } = piece;
    const fields = this.form.write(piece, !this.begun.has(index), true);
    this.begun.add(index);
    return dataEvent({ ...this.head, choices: [{ index, ...fields, finish_reason }], ...extensions });
  }

  /** Adds the tokens of a choice that ended. A prompt counts once. */
  private count({ choice, done }: Piece): void {
    if (!done) return;
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = done.usage;
    const { usage } = this;
    this.ended++;
    this.isStopped ||= done.finishReason === 'abort';
    if (choice % (this.body.n ?? 1) === 0) {
      usage.prompt_tokens += promptTokens;
      usage.prompt_tokens_details.cached_tokens += cachedTokens;
    }
    usage.completion_tokens += completionTokens;
    usage.completion_tokens_details.reasoning_tokens += reasoningTokens;
    usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  }

  private assertComplete(): void {
    assertComplete(this.isStopped || this.ended >= this.prompts * (this.body.n ?? 1));
  }

  private extensions(piece: Piece, tokens: readonly TokenTimes[] = piece.tokens): object {
    const { callErrors, done } = piece;
    const vivace = {
      ...(this.body.stream && tokens.length > 0 && { tokens }),
      ...(callErrors.length > 0 && { tool_call_errors: callErrors }),
      ...(done && { seed: done.seed, metrics: done.metrics }),
    };
    return {
      vivace,
      ...(this.body.timings_per_token && { timings: this.timings.add(piece.choice, tokens, this.pieces) }),
    };
  }
}

function finishReason({ done }: Piece): string {
  return FINISH[done?.finishReason ?? ''] ?? 'stop';
}
