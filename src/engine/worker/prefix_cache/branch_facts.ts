// What a session knows of its cache, before it has branches and with them.

import type { CacheReport } from '../../protocol';

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
