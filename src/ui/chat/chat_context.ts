// The part of the context that a conversation fills, and the turns that the model may forget to make room. Pure.

import { contentOf } from '../conversation/attachments';
import type { Turn } from '../conversation/conversation';
import type { Memory } from '../conversation/conversation_tree';

/** The part of the context from which the meter warns. */
export const NEARLY_FULL = 0.85;

/** Letters of a token and tokens around a message, for turns without counts. They rather overestimate. */
const LETTERS_PER_TOKEN = 3;
const TOKENS_AROUND = 8;

/** The index of the first turn of a branch that the model reads. */
export function memoryStart(path: readonly Turn[], memory: Memory | undefined): number {
  return memory ? path.findIndex(({ id }) => id === memory.after) + 1 : 0;
}

/**
 * Tokens of the conversation in the context after its newest answered turn, or null before the first. Without the
 * thinking, which chat templates leave out of the next prompt, unless it filled the context.
 */
export function contextTokens(path: readonly Turn[], memory?: Memory): number | null {
  const last = path.findLastIndex(({ usage }) => usage !== null);
  if (last < 0) return null;
  const start = memoryStart(path, memory);
  const since = memory ? path.findIndex(({ id }) => id === memory.since) : -1;
  if (start === 0 || last > since) return totalOf(path[last]);
  return costsOf(path)
    .slice(start)
    .reduce((sum, cost) => sum + cost, 0);
}

/** True if a full context cut the newest answer short and nothing was forgotten since. */
export function isFull(path: readonly Turn[], memory?: Memory): boolean {
  const last = path.at(-1);
  return last?.finishReason === 'context' && last.state === 'done' && last.id !== memory?.since;
}

/**
 * A memory whose turns fill at most `budget` tokens. It forgets at least one turn that was read before, but never a
 * newest turn that waits for its answer. Undefined if no turn is left to forget.
 */
export function forgetOldest(path: readonly Turn[], memory: Memory | undefined, budget: number): Memory | undefined {
  const start = memoryStart(path, memory);
  const isAsking = path.at(-1)?.state !== 'done';
  const end = isAsking ? path.length - 1 : path.length;
  if (end <= start) return undefined;
  const costs = costsOf(path);
  let first = end;
  let sum = isAsking ? costs.at(-1)! : 0;
  while (first > start + 1 && sum + costs[first - 1] <= budget) sum += costs[--first];
  return { after: path[first - 1].id, since: path[end - 1].id };
}

function totalOf({ usage, finishReason }: Turn): number {
  if (!usage) return 0;
  const { promptTokens, completionTokens, reasoningTokens } = usage;
  return promptTokens + completionTokens - (finishReason === 'context' ? 0 : reasoningTokens);
}

/** Tokens that each turn adds: the count after it less the count before it, or else an estimate by its letters. */
function costsOf(path: readonly Turn[]): number[] {
  let held = 0;
  return path.map((turn) => {
    const { usage, answer } = turn;
    const question = contentOf(turn);
    if (!usage) return estimate(question) + (answer ? estimate(answer) : 0);
    const asked = usage.promptTokens - held; // below zero where turns were forgotten or thinking left out in between
    held = totalOf(turn);
    return (asked > 0 ? asked : estimate(question)) + usage.completionTokens - usage.reasoningTokens;
  });
}

function estimate(text: string): number {
  return TOKENS_AROUND + Math.ceil(text.length / LETTERS_PER_TOKEN);
}
