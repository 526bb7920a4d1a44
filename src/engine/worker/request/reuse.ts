// What a request takes of the cache and what it leaves there, and in the branches beside it.

import { GpuMemoryError } from '../../../errors';
import type { CacheReport, RunMetrics, Usage } from '../../protocol';
import { sharedPrefix } from '../prefix_cache/shared_prefix';
import type { Answer } from '../steps/answer';
import { dropsThinking, type Prompt, systemTokens } from './prompt';
import type { Session } from './session';

/** A prefill of fewer tokens says little of one of many. */
const TELLING_TOKENS = 64;

interface Asked extends Pick<Prompt, 'chat'> {
  prompt: Uint32Array<ArrayBuffer>;
  reuseCache: boolean;
}

interface Taken {
  /** Leading ids that are in the cache. */
  cached: number;
  /** The reused tokens that come from storage. */
  stored: number;
  report: CacheReport;
}

/** The branches, or what notes the first conversation for them. */
const noted = ({ branches, lateBranches }: Session) => branches ?? lateBranches;

/** Brings as much of `ids`, the prompt and perhaps more, into the cache as is known of them. */
export async function takeCache(
  session: Session,
  ids: Uint32Array<ArrayBuffer>,
  { prompt, chat, reuseCache }: Asked,
  stopped: () => boolean,
): Promise<Taken> {
  const wanted = reuseCache ? ids : new Uint32Array();
  const cached = sharedPrefix(session.cachedIds, wanted, ids.length - 1);
  const taken = await noted(session)?.take(session, wanted, () => systemTokens(prompt, chat, session));
  if (!reuseCache) return { cached: 0, stored: 0, report: 'off' };
  const found = taken ?? { cached, report: cached > 0 ? ('live' as const) : ('new' as const) };
  const held = (await session.stored?.restore(session, wanted, found.cached, stopped)) ?? found.cached;
  if (held === found.cached) return { ...found, stored: 0 };
  return { cached: held, stored: held - found.cached, report: 'stored' };
}

/** Notes what the cache holds behind an answer: all but its last token, which no step has read. */
export function leaveCache(session: Session, prompt: Uint32Array, answer: Answer, reasoningTokens: number): void {
  const branches = noted(session);
  if (answer.isBroken) {
    distrustCache(session);
    return;
  }
  session.cachedIds = [...prompt, ...answer.ids.slice(0, -1)];
  if (branches && dropsAnswer(session, answer, reasoningTokens)) branches.keep(prompt.length);
}

/** Gives up all that the cache and the branches hold, which may be wrong. */
export function distrustCache(session: Session): void {
  noted(session)?.clear(session);
  void session.stored?.distrust();
  session.cachedIds = [];
}

/** True if no later prompt begins with the answer: the template drops its thinking. */
export function dropsAnswer(session: Session, { finishReason }: Answer, reasoningTokens: number): boolean {
  const isOver = finishReason === 'eos' || finishReason === 'stop';
  return isOver && reasoningTokens > 0 && dropsThinking(session);
}

/** Tells what may outlive this engine, and what a prefill of `tokens` took. */
export function notePrompt(session: Session, { prompt, chat }: Asked, tokens: number, took: RunMetrics | null): void {
  const isTelling = took && took.ttftMs !== null && !took.othersMs && tokens >= TELLING_TOKENS;
  const msPerToken = isTelling ? took.prefillMs / tokens : null;
  session.stored?.note(session.cachedIds, () => systemTokens(prompt, chat, session), msPerToken);
}

/** Runs work again without the conversations beside the cache, where the GPU refused it memory. */
export async function withMemory<T>({ branches }: Pick<Session, 'branches'>, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GpuMemoryError && branches?.giveUp())) throw error;
    return work();
  }
}

export function cacheFigures({ branches }: Session, report: CacheReport): Pick<RunMetrics, 'cache'> {
  return { cache: { report, ...(branches?.held ?? { branches: 0, bytes: 0 }) } };
}

export function usageOf(
  { length: promptTokens }: Uint32Array,
  { cached, stored }: Pick<Taken, 'cached' | 'stored'>,
  { ids }: Answer,
  reasoningTokens: number,
): Usage {
  const cachedTokens = Math.min(cached, promptTokens);
  const usage: Usage = { promptTokens, cachedTokens, completionTokens: ids.length, reasoningTokens };
  return stored > 0 ? { ...usage, storedTokens: Math.min(stored, cachedTokens) } : usage;
}
