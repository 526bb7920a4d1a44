// POST /v1/responses: an answer as items, and the stream of events that build them.

import type { EngineEvent } from '../api_engine';
import { assertComplete, newId, nowSeconds, takeAll, wireLogprobs } from './answer/completion';
import { Inbox } from './answer/inbox';
import { type CallPart, type DoneEvent, type Piece, Pieces, type TokenTimes } from './answer/pieces';
import { dataEvent, eventStream, type StreamWriter } from './answer/sse';
import { describeError } from './http/errors';
import type { ApiCall } from './http/http_request';
import type { ResponseRequest } from './http/wire_types';
import { readResponse } from './request/responses_request';

export async function respond({ engine, json, model, signal }: ApiCall): Promise<Response> {
  const { body, messages, options } = readResponse(json, engine);
  const writer = new ResponseWriter(body, model);
  const inbox = new Inbox((stop) => engine.chat(messages, { ...options, signal: stop }), signal);
  await inbox.accepted();
  if (body.stream) return eventStream(inbox, writer, signal);
  writer.write(await takeAll(inbox));
  return Response.json(writer.whole());
}

interface TextPart {
  type: string;
  text: string;
  annotations?: [];
  logprobs?: object[];
}

interface Item {
  readonly id: string;
  readonly type: string;
  status: string;
  /** The fields of a call. */
  name?: string;
  arguments?: string;
}

/** The names of a kind of text in items and events. */
interface TextKind {
  /** The beginning of ids. */
  id: string;
  item: string;
  /** The name of the part, and of the events `response.NAME.delta` and `.done`. */
  part: string;
  /** The fields of an item with these parts. */
  fields(parts: TextPart[]): object;
}

const OUTPUT: TextKind = {
  id: 'msg_',
  item: 'message',
  part: 'output_text',
  fields: (content) => ({ role: 'assistant', content }),
};

const THOUGHTS: TextKind = {
  id: 'rs_',
  item: 'reasoning',
  part: 'reasoning_text',
  fields: (content) => ({ summary: [], content }),
};

class ResponseWriter implements StreamWriter {
  private readonly response: ReturnType<typeof createResponse>;
  private readonly pieces: Pieces;
  /** The item that is being written. */
  private item: Item | null = null;
  /** The kind of a text, and its part of the item. */
  private kind: TextKind | null = null;
  private part: TextPart = { type: '', text: '' };
  /** The number of a call in the answer. */
  private call = -1;
  private readonly callErrors: object[] = [];
  private text = '';
  private sequence = 0;

  constructor(
    private readonly body: ResponseRequest,
    model: string,
  ) {
    this.pieces = new Pieces(body.parallel_tool_calls === false, false);
    this.response = createResponse({ ...body }, model);
  }

  write(events: readonly EngineEvent[]): string {
    this.begin();
    for (const piece of this.pieces.fold(events)) this.add(piece);
    return this.text;
  }

  whole(): object {
    assertComplete(this.response.status !== 'in_progress');
    return this.response;
  }

  end(): string {
    this.whole();
    return '';
  }

  fail(error: unknown): string {
    const { error: reason } = describeError(error, { ...this.body }).body;
    this.begin();
    this.finish('failed', { error: { ...reason, code: reason.code ?? reason.type } });
    return this.text;
  }

  private begin(): void {
    this.text = '';
    if (this.sequence > 0) return;
    this.emit('created', { response: this.response });
    this.emit('in_progress', { response: this.response });
  }

  private emit(name: string, fields: object): void {
    const type = `response.${name}`;
    const event = { type, sequence_number: this.sequence++, ...fields };
    if (this.body.stream) this.text += `event: ${type}\n${dataEvent(event)}`;
  }

  private add(piece: Piece): void {
    const { reasoning, text, calls, callErrors, logprobs, tokens, done } = piece;
    if (reasoning) this.addText(THOUGHTS, reasoning, [], tokens);
    const isLogged = this.kind === OUTPUT && logprobs.length > 0; // tokens that show nothing
    if (text || isLogged) this.addText(OUTPUT, text, logprobs.map(wireLogprobs), tokens);
    for (const call of calls) this.addCall(call, tokens);
    this.callErrors.push(...callErrors);
    if (done) this.addEnd(done, tokens);
  }

  /** @param tokens those that no event has told of: this one takes them out */
  private addText(kind: TextKind, delta: string, logprobs: object[], tokens: TokenTimes[]): void {
    if (this.kind !== kind) this.openText(kind);
    this.part.text += delta;
    this.part.logprobs?.push(...logprobs);
    this.emit(`${kind.part}.delta`, { ...this.place(), delta, logprobs, vivace: { tokens: tokens.splice(0) } });
  }

  private addCall({ index, id = newId('call_'), name = '', arguments: delta }: CallPart, tokens: TokenTimes[]): void {
    if (this.call !== index) {
      this.openItem('fc_', 'function_call', { call_id: id, name, arguments: '' });
      this.call = index;
    }
    if (this.item) this.item.arguments += delta;
    this.emit('function_call_arguments.delta', { ...this.place(), delta, vivace: { tokens: tokens.splice(0) } });
  }

  private openText(kind: TextKind): void {
    const parts: TextPart[] = [];
    this.openItem(kind.id, kind.item, kind.fields(parts));
    this.kind = kind;
    this.part = { type: kind.part, text: '', ...(kind === OUTPUT && { annotations: [], logprobs: [] }) };
    this.emit('content_part.added', { ...this.place(), part: this.part });
    parts.push(this.part);
  }

  private openItem(id: string, type: string, fields: object): void {
    this.close('completed');
    const item: Item = { id: newId(id), type, status: 'in_progress', ...fields };
    this.item = item;
    this.response.output.push(item);
    this.emit('output_item.added', { output_index: this.response.output.length - 1, item });
  }

  /** The fields that name the open item in events, and its part if it is a text. */
  private place(): object {
    const place = { item_id: this.item?.id, output_index: this.response.output.length - 1 };
    return this.kind ? { ...place, content_index: 0 } : place;
  }

  private close(status: string): void {
    const { item, kind, part } = this;
    if (!item) return;
    if (kind) {
      this.emit(`${kind.part}.done`, { ...this.place(), text: part.text, logprobs: part.logprobs ?? [] });
      this.emit('content_part.done', { ...this.place(), part });
    } else this.emit('function_call_arguments.done', { ...this.place(), name: item.name, arguments: item.arguments });
    item.status = status;
    this.emit('output_item.done', { output_index: this.response.output.length - 1, item });
    this.item = null;
    this.kind = null;
    this.call = -1;
  }

  private addEnd({ usage, finishReason, seed, metrics }: DoneEvent, tokens: readonly TokenTimes[]): void {
    const isStopped = finishReason === 'abort';
    const isCut = isStopped || finishReason === 'length' || finishReason === 'context';
    const incomplete_details = isStopped ? null : { reason: 'max_output_tokens' };
    this.finish(isCut ? 'incomplete' : 'completed', {
      ...(isCut ? { incomplete_details } : { completed_at: nowSeconds() }),
      usage: {
        input_tokens: usage.promptTokens,
        input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
        output_tokens: usage.completionTokens,
        output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
        total_tokens: usage.promptTokens + usage.completionTokens,
      },
      vivace: {
        ...(this.body.stream && tokens.length > 0 && { tokens }),
        ...(this.callErrors.length > 0 && { tool_call_errors: this.callErrors }),
        seed,
        metrics,
      },
    });
  }

  private finish(status: string, fields: object): void {
    this.close(status === 'completed' ? status : 'incomplete');
    Object.assign(this.response, { status, ...fields });
    this.emit(status, { response: this.response });
  }
}

/** A response before its answer, with what was asked. */
function createResponse({ input, stream, text, ...given }: ResponseRequest & Record<string, unknown>, model: string) {
  const asked = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return {
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    ...asked,
    text: { ...text, format: text?.format ?? { type: 'text' } },
    id: newId('resp_'),
    object: 'response',
    created_at: nowSeconds(),
    status: 'in_progress',
    model,
    output: [] as Item[],
    store: false,
  };
}
