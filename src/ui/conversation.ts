// The conversation as data: turns, what is sent to the engine of them, and what is said under an answer. Pure.

import type { ChatMessage, EngineEvent, FinishReason, RunMetrics, Usage } from '../engine/engine';
import type { Advice } from './advice';
import { formatMilliseconds, formatTokenRate } from './format';

export type AnswerState = 'streaming' | 'done' | 'error';

/** One question and its answer. */
export interface Turn {
  id: number;
  question: string;
  answer: string;
  /** Tokens of the prompt that the model has read, and all of them; null until it begins. */
  prefill: { done: number; total: number } | null;
  state: AnswerState;
  /** What the question waits for before the engine is asked; null once it is. */
  waitsFor: string | null;
  /** Once the answer has ended by itself or by the reader. */
  finishReason: FinishReason | null;
  metrics: RunMetrics | null;
  usage: Usage | null;
  advice: Advice | null;
  /** Said between question and answer, such as that the GPU was replaced. */
  remarks: string[];
}

export function newTurn(id: number, question: string): Turn {
  return {
    id,
    question,
    answer: '',
    prefill: null,
    state: 'streaming',
    waitsFor: null,
    finishReason: null,
    metrics: null,
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
    case 'recovered':
      turn.remarks.push(event.message);
      return true;
    case 'done':
      turn.answer += event.text;
      turn.finishReason = event.finishReason;
      turn.metrics = event.metrics;
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

/** The line under an answer: speed, wait, rhythm. */
export function timingParts(metrics: RunMetrics): string[] {
  const parts: string[] = [];
  if (metrics.decodeTokensPerSecond !== null) parts.push(formatTokenRate(metrics.decodeTokensPerSecond));
  if (metrics.ttftMs !== null) parts.push(`first token ${formatMilliseconds(metrics.ttftMs)}`);
  if (metrics.tbtMs.p50 !== null) parts.push(`TBT p50 ${formatMilliseconds(metrics.tbtMs.p50)}`);
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
      return 'The context is full. Start a new conversation to go on.';
    default:
      return turn.answer.trim() === '' && turn.state === 'done' ? 'The model ended without a word. Try again.' : null;
  }
}

/** Tokens of the conversation in the context after its newest answered turn, or null before the first. */
export function contextTokens(turns: readonly Turn[]): number | null {
  const usage = turns.findLast((turn) => turn.usage !== null)?.usage;
  return usage ? usage.promptTokens + usage.completionTokens : null;
}
