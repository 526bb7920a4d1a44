// Checks a conversation from a file or from the browser's storage, both untrusted: every field is validated, and
// unknown fields are dropped. Pure.

import { VivaceError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { UNIQUE_ID } from '../../shared/unique_id';
import { type Advice, isOffer } from '../shared/advice';
import { upperFirst } from '../shared/sentences';
import { type Attachment, MAX_ATTACHMENT_BYTES, MAX_ATTACHMENT_NAME, MAX_ATTACHMENTS } from './attachments';
import { MAX_CALLS, type ShownCall, type Timing, type Turn } from './conversation';
import type { Conversation, Memory } from './conversation_tree';
import { MAX_MODEL_NAME, MAX_WRITERS } from './writers';

/** Most UTF-16 units in all texts of a conversation. */
const MAX_TEXT = 10_000_000;
const MAX_TURNS = 10_000;
const MAX_TITLE = 1000;
/** A remark is a sentence. Many long ones take the page seconds. */
const MAX_REMARK = 4000;
/** The last moment of a Date, in milliseconds. */
const MAX_TIME = 8.64e15;
const FINISH_REASONS: Record<NonNullable<Turn['finishReason']>, true> = {
  closed: true,
  eos: true,
  stop: true,
  length: true,
  context: true,
  abort: true,
  'tool-calls': true,
};

/** Reports a file or a stored value that is no valid conversation. The message is a sentence with the reason. */
export class ConversationFileError extends VivaceError {
  /** @param facts the numbers of the message, for those who write it in another language */
  constructor(
    message: string,
    code = 'conversation-file',
    readonly facts: Readonly<Record<string, number>> = {},
  ) {
    super(code, message);
  }
}

/** Reads values, counts the letters of the conversation, and names the place of an error. */
class Reader {
  private left = MAX_TEXT;
  private turn = 0;
  private readonly known = new Set<string>();

  /** The number of the turn that is read, or 0. */
  at(turn: number): void {
    this.turn = turn;
  }

  refuse(what: string): never {
    const { turn } = this;
    if (turn === 0) throw new ConversationFileError(`${upperFirst(what)}.`);
    throw new ConversationFileError(`Turn ${turn}: ${what}.`, undefined, { turn });
  }

  record(value: unknown, name: string): JsonObject {
    if (!isJsonObject(value)) this.refuse(`${name} is not an object`);
    return value;
  }

  list(value: unknown, name: string, max: number): readonly unknown[] {
    if (!Array.isArray(value)) this.refuse(`${name} is not a list`);
    if (value.length > max) this.refuse(`${name} has ${value.length} entries, and ${max} are the most`);
    return value;
  }

  text(value: unknown, name: string, max = MAX_TEXT): string {
    if (typeof value !== 'string') this.refuse(`${name} is not text`);
    if (value.length > max) this.refuse(`${name} has ${value.length} letters, and ${max} are the most`);
    this.left -= value.length;
    if (this.left < 0) this.refuse(`with ${name} there are more than ${MAX_TEXT} letters in one conversation`);
    return value;
  }

  /** A text that versions repeat. It counts once. */
  shared(value: unknown, name: string, max: number): string {
    if (typeof value === 'string' && this.known.has(value)) return value;
    const text = this.text(value, name, max);
    this.known.add(text);
    return text;
  }

  id(value: unknown, name: string): string {
    if (typeof value !== 'string' || !UNIQUE_ID.test(value))
      this.refuse(`${name} is not an id of 32 hexadecimal digits`);
    return value;
  }

  /** A number from 0 to `max`. */
  number(value: unknown, name: string, max: number): number {
    if (typeof value !== 'number' || !(value >= 0 && value <= max))
      this.refuse(`${name} is not a number from 0 to ${max}`);
    return value;
  }

  orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
    return value === null || value === undefined ? null : read(value);
  }
}

/**
 * A valid copy of a conversation. An answer that was still streaming becomes a `closed` one. Throws
 * ConversationFileError for any other value, in time proportional to the largest valid conversation.
 */
export function parseConversation(value: unknown): Conversation {
  const reader = new Reader();
  const fields = reader.record(value, 'it');
  const rawTurns = reader.list(fields.turns, 'its list of turns', MAX_TURNS);
  const turns: Turn[] = [];
  const known = new Map<string, Turn>();
  for (const [i, raw] of rawTurns.entries()) {
    reader.at(i + 1);
    const turn = parseTurn(reader, raw);
    if (known.has(turn.id)) reader.refuse('its id is that of another turn');
    // A parent comes before its children, so that there are no circles.
    if (turn.parent !== null && !known.has(turn.parent))
      reader.refuse('the turn that it follows does not come before it');
    known.set(turn.id, turn);
    turns.push(turn);
  }
  reader.at(0);
  // Without this limit, a copy dated in the future would win over every other copy.
  const time = (name: 'createdAt' | 'updatedAt') => Math.min(reader.number(fields[name], name, MAX_TIME), Date.now());
  const conversation: Conversation = {
    id: reader.id(fields.id, 'its id'),
    title: reader.text(fields.title, 'its title', MAX_TITLE),
    createdAt: time('createdAt'),
    updatedAt: time('updatedAt'),
    system: reader.text(fields.system, 'its system message'),
    turns,
    shown: parseShown(reader, fields.shown, known),
  };
  const memory = parseMemory(reader, fields.memory, known);
  return memory ? { ...conversation, memory } : conversation;
}

/** A turn whose text was written while it streamed, outside its conversation. Throws ConversationFileError. */
export function parseGrownTurn(value: unknown): Turn {
  return parseTurn(new Reader(), value);
}

function parseTurn(reader: Reader, value: unknown): Turn {
  const fields = reader.record(value, 'it');
  const { state } = fields;
  if (state !== 'streaming' && state !== 'done' && state !== 'error')
    reader.refuse('its state is none of the known ones');
  return {
    id: reader.id(fields.id, 'its id'),
    parent: reader.orNull(fields.parent, (parent) => reader.id(parent, 'its parent')),
    createdAt: reader.number(fields.createdAt, 'createdAt', MAX_TIME),
    question: reader.text(fields.question, 'its question'),
    attachments: parseAttachments(reader, fields.attachments ?? []),
    ...parseThinking(reader, fields),
    answer: reader.text(fields.answer, 'its answer'),
    calls: reader.list(fields.calls ?? [], 'its list of calls', MAX_CALLS).map((call) => parseCall(reader, call)),
    prefill: null, // belongs to an answer in progress only
    state: state === 'streaming' ? 'done' : state,
    waitsFor: null,
    finishReason: state === 'streaming' ? 'closed' : parseFinishReason(reader, fields.finishReason),
    limit: reader.orNull(fields.limit, (limit) => Math.floor(reader.number(limit, 'limit', 1e9))),
    timing: reader.orNull(fields.timing, (timing) => parseTiming(reader, timing)),
    ...(fields.run !== undefined && { run: reader.id(fields.run, 'its run') }),
    usage: reader.orNull(fields.usage, (usage) => parseUsage(reader, usage)),
    advice: reader.orNull(fields.advice, (advice) => parseAdvice(reader, advice)),
    remarks: reader
      .list(fields.remarks, 'its list of remarks', 100)
      .map((remark) => reader.text(remark, 'a remark', MAX_REMARK)),
    writers: parseWriters(reader, fields.writers ?? []),
  };
}

/** Older copies have no thinking. */
function parseThinking(reader: Reader, fields: JsonObject): Pick<Turn, 'reasoning' | 'thoughtMs'> {
  return {
    reasoning: reader.text(fields.reasoning ?? '', 'its thinking'),
    thoughtMs: reader.orNull(fields.thoughtMs, (ms) => reader.number(ms, 'thoughtMs', 1e12)),
  };
}

/** Older copies have none. */
function parseAttachments(reader: Reader, value: unknown): Attachment[] {
  return reader.list(value, 'its list of attachments', MAX_ATTACHMENTS).map((attachment) => {
    const fields = reader.record(attachment, 'an attachment');
    const name = reader.text(fields.name, 'the name of an attachment', MAX_ATTACHMENT_NAME);
    return { name, text: reader.shared(fields.text, 'an attachment', MAX_ATTACHMENT_BYTES) };
  });
}

/** Older copies have none. */
function parseWriters(reader: Reader, value: unknown): Turn['writers'] {
  return reader.list(value, 'its list of writers', MAX_WRITERS).map((writer) => {
    const fields = reader.record(writer, 'a writer');
    const endedAt = reader.orNull(fields.endedAt, (time) => reader.number(time, 'endedAt', MAX_TIME));
    return { model: reader.text(fields.model, 'the model of a writer', MAX_MODEL_NAME), endedAt };
  });
}

function parseCall(reader: Reader, value: unknown): ShownCall {
  const fields = reader.record(value, 'a call');
  return {
    name: reader.text(fields.name, 'the name of a call'),
    arguments: reader.text(fields.arguments, 'the arguments of a call'),
    error: reader.orNull(fields.error, (error) => reader.text(error, 'the error of a call')),
  };
}

function parseFinishReason(reader: Reader, value: unknown): Turn['finishReason'] {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string' || !Object.hasOwn(FINISH_REASONS, value)) {
    reader.refuse('its finishReason is none of the known ones');
  }
  return value as Turn['finishReason'];
}

function parseTiming(reader: Reader, value: unknown): Timing {
  const fields = reader.record(value, 'its timing');
  const read = (name: keyof Timing) => reader.orNull(fields[name], (n) => reader.number(n, name, 1e12));
  return { decodeTokensPerSecond: read('decodeTokensPerSecond'), ttftMs: read('ttftMs'), tbtP50Ms: read('tbtP50Ms') };
}

function parseUsage(reader: Reader, value: unknown): NonNullable<Turn['usage']> {
  const fields = reader.record(value, 'its usage');
  const read = (name: string) => Math.floor(reader.number(fields[name], name, 1e9));
  return {
    promptTokens: read('promptTokens'),
    cachedTokens: read('cachedTokens'),
    completionTokens: read('completionTokens'),
    reasoningTokens: fields.reasoningTokens === undefined ? 0 : read('reasoningTokens'), // older copies lack it
  };
}

function parseAdvice(reader: Reader, value: unknown): Advice {
  const fields = reader.record(value, 'its advice');
  const offers = reader.list(fields.offers, 'its list of offers', 16);
  return {
    what: reader.text(fields.what, 'its advice'),
    ...(fields.detail !== undefined && { detail: reader.text(fields.detail, 'its advice') }),
    next: reader.text(fields.next, 'its advice'),
    offers: offers.filter(isOffer),
  };
}

/** The valid entries of `shown`. Entries for missing turns are dropped. */
function parseShown(reader: Reader, value: unknown, known: ReadonlyMap<string, Turn>): Record<string, string> {
  const entries = Object.entries(reader.record(value, 'its choice of branches'));
  const sound = entries.filter((entry): entry is [string, string] => {
    const [parent, child] = entry;
    return typeof child === 'string' && known.has(child) && (known.get(child)!.parent ?? '') === parent;
  });
  return Object.fromEntries(sound);
}

function parseMemory(reader: Reader, value: unknown, known: ReadonlyMap<string, Turn>): Memory | null {
  if (value === null || value === undefined) return null;
  const fields = reader.record(value, 'its memory');
  const memory = { after: reader.id(fields.after, 'memory.after'), since: reader.id(fields.since, 'memory.since') };
  return known.has(memory.after) && known.has(memory.since) ? memory : null;
}
