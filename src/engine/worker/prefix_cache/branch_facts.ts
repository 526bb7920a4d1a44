// What a session knows of its cache, before it has branches and with them.

import type { CacheReport } from '../../protocol';
import { LEAST_TOKENS, sharedPrefix } from './shared_prefix';

/** The reason why a branch is gone. */
export type Loss = Extract<CacheReport, 'evicted' | 'refused' | 'cleared'>;

/** What is known of the conversation in the cache and of those before it. */
export interface Known {
  /** Leading tokens of the cache that are the template's and the system prompt. Called when they are parked. */
  systemTokens: () => number;
  /** Leading tokens of the cache that a later prompt may begin with. */
  most: number;
  /** Lost branches, so that a prompt that would have found one says why it did not. */
  lost: { ids: ArrayLike<number>; why: Loss }[];
}

export const NOTHING_KNOWN: Known = { systemTokens: () => 0, most: Number.POSITIVE_INFINITY, lost: [] };

/** The cache of a session. */
export interface Cached {
  cachedIds: readonly number[];
}

/** What a prompt finds: leading tokens in the cache, and the reason why there are no more. */
export interface Taken {
  cached: number;
  report: CacheReport;
}

/** Lost branches that are remembered. */
const MOST_LOST = 8;

/** The losses with one more, and without those of long ago. */
export function withLoss(lost: Known['lost'], ids: ArrayLike<number>, why: Loss): Known['lost'] {
  return [...lost.slice(1 - MOST_LOST), { ids, why }];
}

/** The find of a prompt of which so many tokens are cached, or the reason why it found no more. */
export function reportOf(
  { lost }: Pick<Known, 'lost'>,
  cached: number,
  isParked: boolean,
  wanted: Uint32Array,
): CacheReport {
  const isBegun = cached > 0 && cached >= Math.min(LEAST_TOKENS, wanted.length - 1); // more than the template's own
  let found: CacheReport = isParked ? 'parked' : isBegun ? 'live' : 'new';
  let most = cached + LEAST_TOKENS;
  for (const { ids, why } of lost) {
    const shared = sharedPrefix(ids, wanted);
    if (shared < most) continue;
    most = shared;
    found = why;
  }
  return found;
}
