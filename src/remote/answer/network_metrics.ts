// The times of an answer, parted into the server's own and the rest. Pure.

import type { NetworkMetrics } from '../../engine/protocol';
import { summarizeGaps } from '../../engine/tbt';
import type { Accepted } from '../server/server';
import type { ServerTimes } from './chunk';

interface Arrivals {
  accepted: Pick<Accepted, 'sentMs' | 'acceptedMs' | 'tries'>;
  /** The arrival of the first token, or null without any, and the time from there to the last. */
  firstMs: number | null;
  decodeMs: number;
  chunks: number;
  chunkGaps: readonly number[];
  tokens: number;
  times: ServerTimes | null;
}

/**
 * Computes the times of the network and its queues: all time that the server did not spend. The first token's share is
 * the way there and back; the share of a gap between tokens is 0 on a network that delays all of them alike.
 */
export function networkMetrics(arrivals: Arrivals): NetworkMetrics {
  const { accepted, firstMs, decodeMs, chunks, chunkGaps, tokens, times } = arrivals;
  const gaps = tokens - 1;
  const serverGapMs = times && times.predicted > 1 ? times.predictedMs / (times.predicted - 1) : null;
  const hasShares = times !== null && firstMs !== null;
  return {
    tries: accepted.tries,
    acceptedMs: accepted.acceptedMs - accepted.sentMs,
    chunks,
    tokensPerChunk: chunks > 0 ? tokens / chunks : null,
    chunkMs: summarizeGaps(chunkGaps),
    server: times && { promptMs: times.promptMs, tokenMs: serverGapMs },
    beyondServer: hasShares
      ? {
          ttftMs: Math.max(0, firstMs - accepted.sentMs - times.promptMs),
          tokenMs: serverGapMs === null || gaps < 1 ? null : Math.max(0, decodeMs / gaps - serverGapMs),
        }
      : null,
  };
}
