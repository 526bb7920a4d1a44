import type { EngineInfo } from '../../engine/engine';
import type { RunData } from './run_data';

export interface ReadSpeed {
  /** That a step has to read at the mean context of the run. */
  bytes: number;
  /** Bytes by the time of a step, in GB/s (1e9 bytes); null without a time. */
  gbps: number | null;
  /** Whose time: the GPU's own of a step (p50), or where it has none the mean gap between tokens. */
  clock: 'gpu' | 'gaps';
}

/** What the steps of a run read of the GPU's memory; null before the second token. Bounded by the roofline in the long run. */
export function readSpeed(
  run: Pick<RunData, 'tokens' | 'metrics' | 'tbt'>,
  { weights, kvPerPosition }: NonNullable<EngineInfo['bytesPerToken']>,
): ReadSpeed | null {
  const first = run.tokens[1]; // the first token is the prefill's
  const last = run.tokens.at(-1);
  if (!first || !last) return null;
  // The step that brings the token at position p reads the keys and values of the p positions before it.
  const bytes = weights + (kvPerPosition * (first.position + last.position)) / 2;
  const gpuMs = run.metrics?.gpuMs?.p50;
  const ms = gpuMs || run.tbt.mean; // a clock that rounds may have measured 0
  return { bytes, gbps: ms ? bytes / ms / 1e6 : null, clock: gpuMs ? 'gpu' : 'gaps' };
}
