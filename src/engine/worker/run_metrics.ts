// The figures of one answer, from its clock and from the backend's counters.

import type { PerToken, RunMetrics } from '../protocol';
import { summarizeGaps } from '../tbt';
import type { Backend } from './backend';
import type { TokenClock } from './token_clock';

export interface RunCounts {
  /** Tokens of the prompt that the cache did not hold. */
  prefilled: number;
  /** Decode steps that were queued. */
  steps: number;
  /** Steps that the run-ahead keeps in flight at the end. */
  depth: number;
  /** The backend's counters after the prefill. */
  before: Backend['counters'];
}

export async function runMetrics(
  backend: Backend,
  clock: TokenClock,
  { prefilled, steps, depth, before }: RunCounts,
): Promise<RunMetrics> {
  const perToken = callsPerToken(before, backend.counters, steps); // without the readback of the step times below
  const stepTimes = clock.gaps.length > 0 ? await backend.stepTimes() : null;
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
    gpuMs: stepTimes && summarizeGaps(stepTimes.slice(0, gaps.length)),
    perToken,
    runAhead: depth,
    peakGpuBytes: backend.peakGpuBytes,
  };
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
