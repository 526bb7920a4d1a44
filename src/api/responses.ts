// POST /v1/responses: an answer as items, and the stream of events that build them.

import type { EngineEvent } from './api_engine';
import { newId, nowSeconds, wireLogprobs } from './completion';
import type { Fields } from './fields';
import { Inbox } from './inbox';
import type { ApiCall } from './openai_chat';
import { describeError } from './openai_errors';
import { type CallPart, type DoneEvent, type Piece, Pieces, UsageSum } from './pieces';
import { readInput, readResponseOptions } from './responses_request';
import { dataEvent, eventStream, type StreamWriter } from './sse';

/** Most items kept for inputs that only name them; the oldest go first. */
const MAX_KEPT = 1024;

/** The route, with the items of its answers: by default the AI SDK sends earlier answers back as their ids. */
export function createResponses(): (call: ApiCall) => Promise<Response> {
  const kept = new Map<string, object>();
  const keep = (item: Item) => {
    kept.set(item.id, item);
    for (const id of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(id);
  };
  return async ({ engine, body, model, signal }) => {
    const messages = readInput(body, kept);
    const options = readResponseOptions(body, engine);
    const isStream = body.flag('stream') ?? false;
    const writer = new ResponseWriter(body, model, isStream, body.flag('store') === false ? () => {} : keep);
    const inbox = new Inbox((stop) => engine.chat(messages, { ...options, signal: stop }), signal);
    await inbox.accepted();
    if (isStream) return eventStream(inbox, writer, signal);
    for (let events = await inbox.take(); events; events = await inbox.take()) writer.write(events);
    return Response.json(writer.whole());
  };
}

interface TextPart {
  type: string;
  text: string;
  annotations?: [];
  logprobs?: object[];
}

type Item = { id: string; status: string } & (
  | { type: 'message'; role: 'assistant'; content: TextPart[] }
  | { type: 'reasoning'; summary: TextPart[]; content?: TextPart[] }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
);

/** How a kind of text is named in items and events. */
interface TextKind {
  type: string;
  /** `response.NAME.delta` and `.done`. */
  event: string;
  /** `response.NAME.added` and `.done`. */
  partEvent: string;
  index: string;
  newItem(part: TextPart[]): Item;
}

const OUTPUT: TextKind = {
  type: 'output_text',
  event: 'output_text',
  partEvent: 'content_part',
  index: 'content_index',
  newItem: (content) => ({ id: newId('msg_'), type: 'message', status: 'in_progress', role: 'assistant', content }),
};

const THOUGHTS: TextKind = {
  type: 'reasoning_text',
  event: 'reasoning_text',
  partEvent: 'content_part',
  index: 'content_index',
  newItem: (content) => ({ id: newId('rs_'), type: 'reasoning', status: 'in_progress', summary: [], content }),
};

const SUMMARY: TextKind = {
  type: 'summary_text',
  event: 'reasoning_summary_text',
  partEvent: 'reasoning_summary_part',
  index: 'summary_index',
  newItem: (summary) => ({ id: newId('rs_'), type: 'reasoning', status: 'in_progress', summary }),
};

class ResponseWriter implements StreamWriter {
  private readonly response: ReturnType<typeof createResponse>;
  private readonly pieces: Pieces;
  private readonly usage = new UsageSum(1);
  /** Thinking goes where the client reads it: to a summary if it asked for one. */
  private readonly thoughts: TextKind;
  /** The item that is being written. */
  private item: Item | null = null;
  /** Of a text: its kind and its part of the item. */
  private kind: TextKind | null = null;
  private part: TextPart = { type: '', text: '' };
  /** Of a call: its number in the answer. */
  private call = -1;
  private readonly callErrors: object[] = [];
  private text = '';
  private sequence = 0;

  constructor(
    body: Fields,
    model: string,
    private readonly isStream: boolean,
    private readonly keep: (item: Item) => void,
  ) {
    this.thoughts = body.object('reasoning')?.has('summary') ? SUMMARY : THOUGHTS;
    this.pieces = new Pieces(body.flag('parallel_tool_calls') === false ? 1 : Number.POSITIVE_INFINITY);
    this.response = createResponse(body, model);
  }

  write(events: readonly EngineEvent[]): string {
    this.begin();
    for (const piece of this.pieces.fold(events)) this.add(piece);
    return this.text;
  }

  whole(): object {
    if (this.response.status === 'in_progress') throw new Error('The engine ended the answer before it was done.');
    return this.response;
  }

  end(): string {
    this.whole();
    return '';
  }

  fail(error: unknown): string {
    const { message, code } = describeError(error).body.error;
    this.begin();
    this.finish('failed', { error: { code: code ?? 'server_error', message } });
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
    if (this.isStream) this.text += `event: ${type}\n${dataEvent(event)}`;
  }

  private add(piece: Piece): void {
    const { reasoning, text, calls, callErrors, logprobs, tokens, done } = piece;
    const vivace = { tokens };
    if (reasoning) this.addText(this.thoughts, reasoning, [], vivace);
    if (text) this.addText(OUTPUT, text, logprobs.map(wireLogprobs), vivace);
    for (const call of calls) this.addCall(call, vivace);
    this.callErrors.push(...callErrors);
    if (done) this.addEnd(piece, done);
  }

  private addText(kind: TextKind, delta: string, logprobs: object[], vivace: object): void {
    if (this.kind !== kind) this.openText(kind);
    this.part.text += delta;
    this.part.logprobs?.push(...logprobs);
    this.emit(`${kind.event}.delta`, { ...this.place(), delta, logprobs, vivace });
  }

  private addCall({ index, id = newId('call_'), name = '', arguments: delta }: CallPart, vivace: object): void {
    if (this.call !== index) {
      const call = { call_id: id, name, arguments: '' };
      this.openItem({ id: newId('fc_'), type: 'function_call', status: 'in_progress', ...call });
      this.call = index;
    }
    if (this.item?.type === 'function_call') this.item.arguments += delta;
    this.emit('function_call_arguments.delta', { ...this.place(), delta, vivace });
  }

  private openText(kind: TextKind): void {
    const parts: TextPart[] = [];
    this.openItem(kind.newItem(parts));
    this.kind = kind;
    this.part = { type: kind.type, text: '', ...(kind === OUTPUT && { annotations: [], logprobs: [] }) };
    this.emit(`${kind.partEvent}.added`, { ...this.place(), part: this.part });
    parts.push(this.part);
  }

  private openItem(item: Item): void {
    this.close('completed');
    this.item = item;
    this.response.output.push(item);
    this.emit('output_item.added', { output_index: this.response.output.length - 1, item });
  }

  /** The fields that name the open item in events, and its part if it is a text. */
  private place(): object {
    const place = { item_id: this.item?.id, output_index: this.response.output.length - 1 };
    return this.kind ? { ...place, [this.kind.index]: 0 } : place;
  }

  private close(status: string): void {
    const { item, kind, part } = this;
    if (!item) return;
    if (kind) {
      this.emit(`${kind.event}.done`, { ...this.place(), text: part.text, logprobs: part.logprobs ?? [] });
      this.emit(`${kind.partEvent}.done`, { ...this.place(), part });
    } else if (item.type === 'function_call') {
      this.emit('function_call_arguments.done', { ...this.place(), name: item.name, arguments: item.arguments });
    }
    item.status = status;
    this.emit('output_item.done', { output_index: this.response.output.length - 1, item });
    this.keep(item);
    this.item = null;
    this.kind = null;
    this.call = -1;
  }

  private addEnd(piece: Piece, { finishReason, seed, metrics }: DoneEvent): void {
    this.usage.add(piece);
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens, totalTokens } = this.usage;
    const isCut = finishReason === 'length' || finishReason === 'context';
    this.finish(isCut ? 'incomplete' : 'completed', {
      ...(isCut && { incomplete_details: { reason: 'max_output_tokens' } }),
      usage: {
        input_tokens: promptTokens,
        input_tokens_details: { cached_tokens: cachedTokens },
        output_tokens: completionTokens,
        output_tokens_details: { reasoning_tokens: reasoningTokens },
        total_tokens: totalTokens,
      },
      vivace: {
        ...(this.callErrors.length > 0 && { tool_call_errors: this.callErrors }),
        seed,
        metrics,
      },
    });
  }

  private finish(status: string, fields: object): void {
    this.close(status === 'completed' ? status : 'incomplete');
    Object.assign(this.response, { status, completed_at: nowSeconds(), ...fields });
    this.emit(status, { response: this.response });
  }
}

/** A response before its answer, with what was asked. */
function createResponse({ json: body }: Fields, model: string) {
  return {
    id: newId('resp_'),
    object: 'response',
    created_at: nowSeconds(),
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: [] as Item[],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: false,
    temperature: body.temperature ?? null,
    text: { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    truncation: 'disabled',
    usage: null,
  };
}
