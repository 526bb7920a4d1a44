// What a request takes of the cache and what it leaves there, and in the branches beside it.

import { GpuMemoryError } from '../../errors';
import type { CacheReport, RunMetrics } from '../protocol';
import type { Answer } from './answer';
import { sharedPrefix } from './branch_plan';
import { dropsThinking, type Prompt, systemTokens } from './prompt';
import type { Session } from './session';

interface Asked extends Pick<Prompt, 'chat'> {
  prompt: Uint32Array<ArrayBuffer>;
  reuseCache: boolean;
}

/** Brings as much of `ids`, the prompt and perhaps more, into the cache as is known of them. */
export async function takeCache(
  session: Session,
  ids: Uint32Array<ArrayBuffer>,
  { prompt, chat, reuseCache }: Asked,
): Promise<{ cached: number; report: CacheReport }> {
  const wanted = reuseCache ? ids : new Uint32Array();
  const cached = sharedPrefix(session.cachedIds, wanted, ids.length - 1);
  const taken = await session.branches?.take(session, wanted, () => systemTokens(prompt, chat, session));
  if (!reuseCache) return { cached: 0, report: 'off' };
  return taken ?? { cached, report: cached > 0 ? 'live' : 'new' };
}

/** Notes what the cache holds behind an answer: all but its last token, which no step has read. */
export function leaveCache(session: Session, prompt: Uint32Array, answer: Answer, reasoningTokens: number): void {
  const { branches } = session;
  if (answer.isBroken) {
    branches?.clear(session);
    session.cachedIds = [];
    return;
  }
  session.cachedIds = [...prompt, ...answer.ids.slice(0, -1)];
  const isOver = answer.finishReason === 'eos' || answer.finishReason === 'stop';
  if (branches && isOver && reasoningTokens > 0 && dropsThinking(session)) branches.keep(prompt.length);
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
