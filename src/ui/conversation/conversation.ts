// The turns of a conversation: their data, the messages made of them for the engine, and the texts under an answer.
// Pure.

import type { ChatMessage, EngineEvent, FinishReason, RunMetrics, Usage } from '../../engine/engine';
import { uniqueId } from '../../shared/unique_id';
import { words } from '../../words/words';
import type { Advice } from '../shared/advice';
import { describeDuration, number, rateText, timeText } from '../shared/amounts';
import { type Attachment, contentOf } from './attachments';

type AnswerState = 'streaming' | 'done' | 'error';

/** The figures in the line under an answer. */
export interface Timing {
  decodeTokensPerSecond: number | null;
  ttftMs: number | null;
  tbtP50Ms: number | null;
}

/** Most calls of one turn. */
export const MAX_CALLS = 128;

/** A call of a tool in an answer. */
export interface ShownCall {
  name: string;
  /** JSON text. With an `error`: the call as the model wrote it. */
  arguments: string;
  /** The reason why this is no call that a page could make, or null. */
  error: string | null;
}

/** A model that wrote an answer, or a part of it. */
interface Writer {
  model: string;
  /** Milliseconds since 1970. Null while it writes, and where its page closed before the end. */
  endedAt: number | null;
}

/** One question and its answer. */
export interface Turn {
  /** Unique across all conversations. */
  id: string;
  /** The id of the turn before, or null for a first turn. */
  parent: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
  question: string;
  /** Text files that come with the question. */
  attachments: readonly Attachment[];
  /** The thinking before the answer, or ''. */
  reasoning: string;
  /** Milliseconds from the first token to the first one of the answer. Null before the first, and where unknown. */
  thoughtMs: number | null;
  answer: string;
  calls: ShownCall[];
  /** Prompt tokens that the model has read, and their total. Null before it begins. */
  prefill: { done: number; total: number } | null;
  state: AnswerState;
  /** The reason why the question waits before it reaches the engine, or null. */
  waitsFor: string | null;
  /** Null until the answer ends, by itself or by the reader. `closed`: its page ended before the answer did. */
  finishReason: FinishReason | 'closed' | null;
  /** The tokens at which a limit cut the answer, or its newest part if it went on. Null if none did, or unknown. */
  limit: number | null;
  timing: Timing | null;
  /** The id of the answer's newest run. Absent before the first, and in older copies. */
  run?: string;
  usage: Usage | null;
  advice: Advice | null;
  /** Sentences under the answer, on its recoveries. */
  remarks: string[];
  /** The models that wrote the answer, one after another. Empty where unknown. */
  writers: Writer[];
}

export function newTurn(question: string, parent: string | null = null, attachments: readonly Attachment[] = []): Turn {
  return {
    id: uniqueId(),
    parent,
    createdAt: Date.now(),
    question,
    attachments,
    reasoning: '',
    thoughtMs: null,
    answer: '',
    calls: [],
    prefill: null,
    state: 'streaming',
    waitsFor: null,
    finishReason: null,
    limit: null,
    timing: null,
    usage: null,
    advice: null,
    remarks: [],
    writers: [],
  };
}

/** Updates the turn from an event. Returns whether anything visible has changed. */
export function takeEvent(turn: Turn, event: EngineEvent): boolean {
  switch (event.type) {
    case 'token':
      if (!hasAnswer(turn)) turn.thoughtMs = (turn.thoughtMs ?? 0) + (event.tbtMs ?? 0);
      turn.answer += event.text;
      return event.text !== '';
    case 'reasoning':
      turn.reasoning += event.text;
      return true;
    case 'tool-call': {
      const call = callAt(turn, event.index);
      call.name += event.name ?? '';
      call.arguments += event.arguments;
      return true;
    }
    case 'tool-call-error':
      Object.assign(callAt(turn, event.index), { arguments: event.text, error: event.message });
      return true;
    case 'prefill':
      turn.prefill = { done: event.done, total: event.total };
      return true;
    case 'done':
      turn.answer += event.text;
      turn.finishReason = event.finishReason;
      turn.limit = event.finishReason === 'length' ? event.usage.completionTokens : null;
      turn.timing = timingOf(event.metrics);
      turn.usage = event.usage;
      return true;
    case 'start':
    case 'warning':
    case 'interrupted':
    case 'recovered':
    case 'place':
    case 'gpuTimes':
    case 'queued': // as quiet as the wait for the prompt
      return false;
    default:
      event satisfies never;
      return false;
  }
}

/** The call of this number. Those beyond the limit of a stored turn go into one that nobody sees. */
function callAt({ calls }: Turn, index: number): ShownCall {
  const call = calls[index] ?? { name: '', arguments: '', error: null };
  if (index === calls.length && index < MAX_CALLS) calls.push(call);
  return call;
}

function hasAnswer({ answer, calls }: Turn): boolean {
  return answer.trim() !== '' || calls.length > 0;
}

/** True while the model thinks and has not begun its answer. */
export function isThinking(turn: Turn): boolean {
  return turn.state === 'streaming' && turn.reasoning !== '' && !hasAnswer(turn);
}

/** True if thinking ended without an answer. */
export function endedInThought(turn: Turn): boolean {
  return turn.state === 'done' && turn.reasoning !== '' && !hasAnswer(turn);
}

/** The line over the folded thinking. */
export function thoughtLabel(turn: Turn): string {
  const text = words().turn;
  if (isThinking(turn)) return text.thinks;
  return turn.thoughtMs === null ? text.thought : text.thoughtFor(describeDuration(turn.thoughtMs));
}

/**
 * The messages for the engine: the whole conversation, ending with the question of the last turn. Failed turns, and
 * turns stopped before the first word of their answer, are left out, because chat templates want questions and answers
 * to alternate. So are calls of tools, because templates want their results, and this page has none. The template
 * decides about earlier thinking.
 */
export function toMessages(turns: readonly Turn[], system: string): ChatMessage[] {
  const messages: ChatMessage[] = system ? [{ role: 'system', content: system }] : [];
  turns.forEach((turn, i) => {
    const isLast = i === turns.length - 1;
    if (!isLast && (turn.state === 'error' || turn.answer.trim() === '')) return;
    messages.push({ role: 'user', content: contentOf(turn) });
    const thinking = turn.reasoning ? { reasoning: turn.reasoning } : {};
    if (!isLast) messages.push({ role: 'assistant', content: turn.answer, ...thinking });
  });
  return messages;
}

function timingOf({ decodeTokensPerSecond, ttftMs, tbtMs }: RunMetrics): Timing {
  return { decodeTokensPerSecond, ttftMs, tbtP50Ms: tbtMs.p50 };
}

/**
 * The parts of the line under an answer: speed, wait, rhythm. A median of 0 is no rhythm: half of the tokens came
 * together, as in browsers that look for finished work seldom.
 */
export function timingParts({ decodeTokensPerSecond, ttftMs, tbtP50Ms }: Timing): string[] {
  const text = words().turn;
  const parts: string[] = [];
  if (decodeTokensPerSecond !== null) parts.push(rateText(decodeTokensPerSecond));
  if (ttftMs !== null) parts.push(text.firstToken(timeText(ttftMs)));
  if (tbtP50Ms) parts.push(text.median(timeText(tbtP50Ms)));
  return parts;
}

/**
 * A remark on the end of an answer, or null for an ordinary end.
 * @param canSwitch true if the model's thinking can be switched off
 */
export function endRemark(turn: Turn, canSwitch = false): string | null {
  const text = words().ends;
  if (endedInThought(turn)) return thoughtRemark(turn, canSwitch);
  switch (turn.finishReason) {
    case 'abort':
      return text.stopped;
    case 'closed':
      return text.closed;
    case 'length': {
      const n = limitOf(turn);
      return n === null ? text.someLimit : text.limit(n);
    }
    case 'context':
      return text.context;
    default:
      if (turn.state !== 'done' || turn.answer.trim() !== '') return null;
      return turn.calls.length > 0 ? text.tool : text.nothing;
  }
}

function thoughtRemark(turn: Turn, canSwitch: boolean): string {
  const text = words().ends;
  switch (turn.finishReason) {
    case 'abort':
      return text.thoughtStopped;
    case 'closed':
      return text.thoughtClosed;
    case 'length': {
      const n = limitOf(turn);
      const sentence = n === null ? text.thoughtSomeLimit : text.thoughtLimit(n);
      return canSwitch ? text.canSwitch(sentence) : sentence;
    }
    case 'context':
      return canSwitch ? text.thoughtContextOrSwitch : text.thoughtContext;
    default:
      return canSwitch ? text.thoughtOnlyOrSwitch : text.thoughtOnly;
  }
}

/** The tokens at which a limit cut the answer. Null if unknown. */
function limitOf({ limit, usage }: Turn): string | null {
  const n = limit ?? usage?.completionTokens; // older copies have no limit
  return n === undefined ? null : number(n, 0);
}

const EXCERPT_LINES = 12;
const EXCERPT_LETTERS = 900;

/** The beginning of a question too long to be shown whole, or null for a shorter one. */
export function excerptOf(question: string): string | null {
  const start = question.slice(0, EXCERPT_LETTERS + 1);
  const lines = start.split('\n');
  if (lines.length > EXCERPT_LINES) return lines.slice(0, EXCERPT_LINES).join('\n');
  if (start.length <= EXCERPT_LETTERS) return null;
  return start.slice(0, EXCERPT_LETTERS).replace(/[\ud800-\udbff]$/, ''); // no half of a surrogate pair
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
