// The conversation as data: turns, what is sent to the engine of them, and what is said under an answer. Pure.

import type { ChatMessage, EngineEvent, FinishReason, RunMetrics, Usage } from '../../engine/engine';
import { formatMilliseconds, formatTokenRate } from '../../shared/format';
import type { Advice } from '../shared/advice';

type AnswerState = 'streaming' | 'done' | 'error';

/** What the line under an answer says. */
export interface Timing {
  decodeTokensPerSecond: number | null;
  ttftMs: number | null;
  tbtP50Ms: number | null;
}

/** One question and its answer. */
export interface Turn {
  /** Unique everywhere. */
  id: string;
  /** The turn before it, or null for a first one. */
  parent: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
  question: string;
  answer: string;
  /** Tokens of the prompt that the model has read, and all of them; null until it begins. */
  prefill: { done: number; total: number } | null;
  state: AnswerState;
  /** What the question waits for before the engine is asked; null once it is. */
  waitsFor: string | null;
  /** Once the answer has ended by itself or by the reader. */
  finishReason: FinishReason | null;
  timing: Timing | null;
  usage: Usage | null;
  advice: Advice | null;
  /** Said between question and answer, such as that the GPU was replaced. */
  remarks: string[];
}

/** 128 random bits. crypto.randomUUID is for secure contexts alone; a page on a local network has none. */
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

/** Takes into the turn what an event says of it. Whether anything changed that its reader sees. */
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
    case 'warning':
      return false;
    default:
      event satisfies never;
      return false;
  }
}

/**
 * What the engine is asked: the whole conversation. Turns that failed and answers stopped before their first word are left out
 * with their question, since chat templates want questions and answers to alternate. The last turn is the one to be answered.
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

/** The line under an answer: speed, wait, rhythm. */
export function timingParts({ decodeTokensPerSecond, ttftMs, tbtP50Ms }: Timing): string[] {
  const parts: string[] = [];
  if (decodeTokensPerSecond !== null) parts.push(formatTokenRate(decodeTokensPerSecond));
  if (ttftMs !== null) parts.push(`first token ${formatMilliseconds(ttftMs)}`);
  if (tbtP50Ms !== null) parts.push(`TBT p50 ${formatMilliseconds(tbtP50Ms)}`);
  return parts;
}

/** Why an answer ended, where that is worth a word. */
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

/** The beginning of a question that is too long to be shown whole, or null of one that is not. */
export function excerptOf(question: string): string | null {
  const start = question.slice(0, EXCERPT_LETTERS + 1);
  const lines = start.split('\n');
  if (lines.length > EXCERPT_LINES) return lines.slice(0, EXCERPT_LINES).join('\n');
  if (start.length <= EXCERPT_LETTERS) return null;
  return start.slice(0, EXCERPT_LETTERS).replace(/[\ud800-\udbff]$/, ''); // no half of a character
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
