// An answer that goes on after its end: whether it can, what the engine is asked, and how its parts add up. Pure.

import type { ChatMessage, Usage } from '../../engine/engine';
import type { Timing, Turn } from './conversation';

/** The end of an answer, before it went on. */
export interface FormerEnd extends Pick<Turn, 'state' | 'finishReason' | 'limit' | 'timing' | 'usage'> {
  readonly letters: number;
}

/** True for an answer with text that was cut, by whatever. It is no tool's turn, and did not end by itself. */
export function isCut({ state, finishReason, advice, answer, reasoning, calls }: Turn): boolean {
  if ((answer + reasoning).trim() === '' || calls.length > 0) return false;
  switch (finishReason) {
    case 'abort':
    case 'closed':
    case 'length':
    case 'context':
      return state !== 'streaming';
    case null:
      return state !== 'streaming' && advice !== null; // it failed
    default:
      return false;
  }
}

/** Opens the answer again. Returns its former end. */
export function reopen(turn: Turn): FormerEnd {
  const { state, finishReason, limit, timing, usage } = turn;
  Object.assign(turn, { state: 'streaming', finishReason: null, advice: null, prefill: null });
  return { state, finishReason, limit, timing, usage, letters: lettersOf(turn) };
}

/** The messages of a question, with the answer that goes on, which may be still a thought. */
export function withBegun(messages: readonly ChatMessage[], { answer, reasoning }: Turn): ChatMessage[] {
  return [...messages, { role: 'assistant', content: answer, ...(reasoning ? { reasoning } : {}) }];
}

/** Adds the figures of the part that has just ended to those before it. */
export function addFigures(turn: Turn, former: FormerEnd): void {
  const { usage, timing } = turn;
  if (timing) turn.timing = addTiming(former, { usage, timing });
  if (usage) turn.usage = former.usage ? addUsage(former.usage, usage) : usage;
}

/**
 * After a part that ended without figures: a failure keeps all text and leaves the answer as whole as it was. Tokens
 * that nobody counted make their number unknown.
 */
export function settlePart(turn: Turn, former: FormerEnd): void {
  const hasGrown = lettersOf(turn) > former.letters;
  if (hasGrown) turn.usage = null;
  if (turn.state !== 'error') return;
  turn.state = former.state;
  if (hasGrown) return; // the old reason is no longer true
  turn.finishReason = former.finishReason;
  turn.limit = former.limit;
}

/** The prompt of a part holds the parts before it. The context after both is the same as the sum here. */
function addUsage(before: Usage, part: Usage): Usage {
  const completionTokens = before.completionTokens + part.completionTokens;
  return {
    promptTokens: Math.max(0, part.promptTokens - before.completionTokens),
    cachedTokens: before.cachedTokens,
    completionTokens,
    reasoningTokens: before.reasoningTokens + part.reasoningTokens,
  };
}

/** The wait is that of the first part, the speed that of all tokens. A median of both parts is not known. */
function addTiming(before: Pick<Turn, 'usage' | 'timing'>, part: Pick<Turn, 'usage'> & { timing: Timing }): Timing {
  const rate = part.timing.decodeTokensPerSecond;
  const former = before.timing?.decodeTokensPerSecond ?? null;
  const ttftMs = before.timing?.ttftMs ?? null;
  if (former === null || rate === null || !before.usage || !part.usage) {
    return { decodeTokensPerSecond: rate ?? former, ttftMs, tbtP50Ms: null };
  }
  const [n, m] = [before.usage.completionTokens, part.usage.completionTokens];
  const seconds = n / former + m / rate;
  return { decodeTokensPerSecond: seconds > 0 ? (n + m) / seconds : rate, ttftMs, tbtP50Ms: null };
}

function lettersOf({ answer, reasoning }: Turn): number {
  return answer.length + reasoning.length;
}
