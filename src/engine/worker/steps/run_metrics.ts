// The figures of one answer, from its clock and from the backend's counters.

import type { Backend } from '../../backend/backend';
import type { PerToken, RunMetrics, TbtSummary } from '../../protocol';
import { summarizeGaps } from '../../tbt';
import type { TokenClock } from './token_clock';

export interface RunCounts {
  /** Tokens of the prompt that the cache did not hold. */
  prefilled: number;
  /** Decode steps that were queued. */
  steps: number;
  /** Steps that the run-ahead keeps in flight at the end. */
  depth: number;
  /** The backend's counters after the prefill and now, without the calls of other requests. */
  before: Backend['counters'];
  after: Backend['counters'];
  /** Milliseconds in which other requests ran. */
  othersMs: number;
  /** The most requests that a step ran for. */
  batchSize: number;
}

/** The figures known with the last token. Waits for nothing. */
export function runMetrics(
  backend: Backend,
  clock: TokenClock,
  { prefilled, steps, depth, before, after, othersMs, batchSize }: RunCounts,
): RunMetrics {
  const { start, tokenized, first, last, gaps } = clock;
  return {
    attention: backend.attention,
    step: backend.step,
    ttftMs: first === null ? null : first - start,
    tokenizeMs: tokenized - start,
    prefillMs: (first ?? performance.now()) - tokenized,
    prefillTokensPerSecond: first === null ? null : perSecond(prefilled, first - tokenized),
    decodeTokensPerSecond: first === null ? null : perSecond(gaps.length, last - first),
    tbtMs: summarizeGaps(gaps),
    perToken: callsPerToken(before, after, steps),
    runAhead: depth,
    peakGpuBytes: backend.peakGpuBytes,
    ...(othersMs > 0 && { othersMs }),
    ...(batchSize > 1 && { batchSize }),
  };
}

/** The GPU's own time of each step that brought a token, one readback away. Null without a GPU clock or a step. */
export async function gpuTimes(
  steps: { stepTimes(): Promise<number[] | null> },
  { gaps }: TokenClock,
): Promise<TbtSummary | null> {
  const stepTimes = gaps.length > 0 ? await steps.stepTimes() : null;
  return stepTimes && summarizeGaps(stepTimes.slice(0, gaps.length));
}

function perSecond(count: number, ms: number): number | null {
  return count > 0 && ms > 0 ? (count * 1000) / ms : null;
}

/** WebGPU calls of one decode step: the mean over `steps` of them between two readings of the counters. */
function callsPerToken(before: Backend['counters'], after: Backend['counters'], steps: number): PerToken | null {
  if (!before || !after || steps < 1) return null;
  const each = (name: keyof PerToken) => (after[name] - before[name]) / steps;
  return {
    dispatches: each('dispatches'),
    submits: each('submits'),
    syncs: each('syncs'),
    bytesRead: each('bytesRead'),
  };
}
