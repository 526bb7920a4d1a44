// The turns of a conversation: their data, the messages made of them for the engine, and the texts under an answer.
// Pure.

import type { ChatMessage, EngineEvent, FinishReason, RunMetrics, Usage } from '../../engine/engine';
import { formatMilliseconds, formatTokenRate } from '../../shared/format';
import type { Advice } from '../shared/advice';

type AnswerState = 'streaming' | 'done' | 'error';

/** The figures in the line under an answer. */
export interface Timing {
  decodeTokensPerSecond: number | null;
  ttftMs: number | null;
  tbtP50Ms: number | null;
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
  answer: string;
  /** Prompt tokens that the model has read, and their total. Null before it begins. */
  prefill: { done: number; total: number } | null;
  state: AnswerState;
  /** The reason why the question waits before it reaches the engine, or null. */
  waitsFor: string | null;
  /** Null until the answer ends, by itself or by the reader. */
  finishReason: FinishReason | null;
  timing: Timing | null;
  usage: Usage | null;
  advice: Advice | null;
  /** Sentences between question and answer. */
  remarks: string[];
}

/** 128 random bits as hexadecimal digits. crypto.randomUUID is missing in insecure contexts such as a local network. */
export function uniqueId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function newTurn(question: string, parent: string | null = null): Turn {
  return {
    id: uniqueId(),
    parent,
    createdAt: Date.now(),
    question,
    answer: '',
    prefill: null,
    state: 'streaming',
    waitsFor: null,
    finishReason: null,
    timing: null,
    usage: null,
    advice: null,
    remarks: [],
  };
}

/** Updates the turn from an event. Returns whether anything visible has changed. */
export function takeEvent(turn: Turn, event: EngineEvent): boolean {
  switch (event.type) {
    case 'token':
      turn.answer += event.text;
      return true;
    case 'prefill':
      turn.prefill = { done: event.done, total: event.total };
      return true;
    case 'done':
      turn.answer += event.text;
      turn.finishReason = event.finishReason;
      turn.timing = timingOf(event.metrics);
      turn.usage = event.usage;
      return true;
    case 'start':
    case 'reasoning':
    case 'tool-call':
    case 'tool-call-error':
    case 'warning':
    case 'gpuTimes':
      return false;
    default:
      event satisfies never;
      return false;
  }
}

/**
 * The messages for the engine: the whole conversation, ending with the question of the last turn. Failed turns, and
 * turns stopped before the first word of their answer, are left out, because chat templates want questions and answers
 * to alternate.
 */
export function toMessages(turns: readonly Turn[], system: string): ChatMessage[] {
  const messages: ChatMessage[] = system ? [{ role: 'system', content: system }] : [];
  turns.forEach((turn, i) => {
    const isLast = i === turns.length - 1;
    if (!isLast && (turn.state === 'error' || turn.answer.trim() === '')) return;
    messages.push({ role: 'user', content: turn.question });
    if (!isLast) messages.push({ role: 'assistant', content: turn.answer });
  });
  return messages;
}

function timingOf({ decodeTokensPerSecond, ttftMs, tbtMs }: RunMetrics): Timing {
  return { decodeTokensPerSecond, ttftMs, tbtP50Ms: tbtMs.p50 };
}

/** The parts of the line under an answer: speed, wait, rhythm. */
export function timingParts({ decodeTokensPerSecond, ttftMs, tbtP50Ms }: Timing): string[] {
  const parts: string[] = [];
  if (decodeTokensPerSecond !== null) parts.push(formatTokenRate(decodeTokensPerSecond));
  if (ttftMs !== null) parts.push(`first token ${formatMilliseconds(ttftMs)}`);
  if (tbtP50Ms !== null) parts.push(`TBT p50 ${formatMilliseconds(tbtP50Ms)}`);
  return parts;
}

/** A remark on the end of an answer, or null for an ordinary end. */
export function endRemark(turn: Turn): string | null {
  switch (turn.finishReason) {
    case 'abort':
      return 'Stopped';
    case 'length': {
      const n = turn.usage?.completionTokens;
      const limit = n === undefined ? 'its limit' : n === 1 ? 'the limit of 1 token' : `the limit of ${n} tokens`;
      return `Ended at ${limit}. Max tokens in the settings raises it.`;
    }
    case 'context':
      return 'Ended here: the context was full.';
    default:
      return turn.answer.trim() === '' && turn.state === 'done' ? 'The model ended without a word. Try again.' : null;
  }
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
