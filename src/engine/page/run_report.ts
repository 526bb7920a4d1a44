// A run as one object, which `generate --json` prints and the panel saves. Pure.

import type { EngineEvent, EngineInfo, RunMetrics, Warning } from '../protocol';

/** The events of one run, as a client collected them. */
export interface RunHeard {
  /** The info of the model that ran, or null if unknown. */
  info: EngineInfo | null;
  warnings: readonly Warning[];
  ids: readonly number[];
  text: string;
  /** Null if the run ended before its `start`. */
  promptIds: readonly number[] | null;
  /** Null if the run ended without one. */
  done: Extract<EngineEvent, { type: 'done' }> | null;
  /** Figures measured without a `done`. */
  measured?: Partial<RunMetrics>;
}

/** Numbers as the engine reports them. Unknown figures are null, as are those that only `done` brings. */
export type RunReport = ReturnType<typeof runReport>;

export function runReport({ info, warnings, promptIds, ids, text, done, measured = {} }: RunHeard) {
  const metrics: Partial<RunMetrics> = done?.metrics ?? measured;
  return {
    model: info?.model.name ?? null,
    adapter: info?.adapter ?? null,
    backend: info?.backend ?? null,
    attention: metrics.attention ?? info?.attention ?? null,
    step: metrics.step ?? info?.step ?? null,
    promptIds,
    ids,
    text,
    finishReason: done?.finishReason ?? null,
    warnings: distinct([...(info?.warnings ?? []), ...warnings]),
    ttftMs: metrics.ttftMs ?? null,
    prefillTokensPerSecond: metrics.prefillTokensPerSecond ?? null,
    decodeTokensPerSecond: metrics.decodeTokensPerSecond ?? null,
    tbtMs: metrics.tbtMs ?? null,
    gpuMs: metrics.gpuMs ?? null,
    perToken: metrics.perToken ?? null,
    runAhead: metrics.runAhead ?? null,
    peakGpuBytes: metrics.peakGpuBytes ?? null,
  };
}

/** Drops repeated warnings: one may come with the load and again as an event. */
function distinct(warnings: readonly Warning[]): Warning[] {
  const seen = new Map(warnings.map((warning) => [`${warning.code}\0${warning.message}`, warning]));
  return [...seen.values()].map(({ code, message }) => ({ code, message }));
}
