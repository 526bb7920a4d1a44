// The index of the kept conversations, so that a list reads no texts. The stored value is untrusted. Pure.

import { type Conversation, titleOf } from './conversation_tree';

const MAX_SUMMARIES = 100_000;

/** A conversation in a list. */
export interface Summary {
  readonly id: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** Number of turns on all branches. */
  readonly turns: number;
}

export function summarize(conversation: Conversation): Summary {
  const { id, updatedAt, turns } = conversation;
  return { id, title: titleOf(conversation), updatedAt, turns: turns.length };
}

/** The index by id. Empty if any part of it is invalid. */
export function readIndex(value: unknown): Map<string, Summary> {
  const isSound = Array.isArray(value) && value.length <= MAX_SUMMARIES && value.every(isSummary);
  return new Map(isSound ? (value as Summary[]).map((summary) => [summary.id, summary]) : []);
}

function isSummary(value: unknown): value is Summary {
  const { id, title, updatedAt, turns } = (value ?? {}) as Partial<Record<keyof Summary, unknown>>;
  const areTexts = typeof id === 'string' && id.length <= 64 && typeof title === 'string' && title.length <= 1000;
  return areTexts && Number.isFinite(updatedAt) && Number.isInteger(turns);
}
