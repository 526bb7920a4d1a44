// Exports: a run as JSON (its document) or CSV (one line per token, no texts of the model), a tuning as JSON. Pure.

import type { EngineInfo, Roofline, TuneOutcome } from '../../engine/engine';
import { gpuMsOf, placeOf, type RunData } from './run_data';
import { runDocument } from './run_document';

/** A run as JSON. `info` stands in where the run has none. */
export function runToJson(run: RunData, info: EngineInfo | null, roofline: Roofline | null): string {
  return JSON.stringify(runDocument(run, info, roofline));
}

/** A file name for a run, such as 'vivace-run-2026-11-23-08-24-56'. */
export function runFileName({ origin: { startedAt } }: RunData): string {
  return `vivace-run-${new Date(startedAt).toISOString().slice(0, 19).replace(/[T:]/g, '-')}`;
}

/** Rounds to microseconds: finer digits are rounding errors of subtraction. */
const rounded = (ms: number | null) => (ms === null ? '' : Math.round(ms * 1000) / 1000);

/**
 * A run as CSV. Columns: token (from 1), id, position in the context; in milliseconds the gap before the token, the
 * GPU's own time of its step, the stages of RecordedToken, and the part of the gap that a recovery took; pipelines
 * compiled before the token; the cause of its stall, if the gap is one; and `local` or `remote`, where it was computed.
 * Unknown values are empty. Texts are left out: a spreadsheet would run a cell that starts with `=`.
 */
export function runToCsv(run: RunData): string {
  const causes = new Map(run.stalls.map(({ token, cause }) => [token, cause]));
  const lines = run.tokens.map(({ id, position, pipelines, ...token }, i) => {
    const { tbtMs, inFlightMs, workerMs, receivedMs, paintedMs } = token;
    const pause = pauseBefore(run, i);
    const times = [tbtMs, gpuMsOf(run, i), inFlightMs, workerMs, receivedMs, paintedMs, pause];
    return [i + 1, id, position, ...times.map(rounded), pipelines ?? 0, causes.get(i + 1) ?? '', placeOf(run, i)].join(
      ',',
    );
  });
  const header =
    'token,id,position,tbt_ms,gpu_ms,in_flight_ms,worker_ms,received_ms,painted_ms,recovery_ms,pipelines,stall,place';
  return `${[header, ...lines].join('\n')}\n`;
}

/** The pause of recoveries before a token (from 0), or null without any. */
function pauseBefore({ recoveries }: RunData, index: number): number | null {
  let pause: number | null = null;
  for (const { afterToken, pauseMs } of recoveries) if (afterToken === index && pauseMs) pause = (pause ?? 0) + pauseMs;
  return pause;
}

/** All results of a tuning, with the machine and the model that they hold for. */
export function tuneToJson({ attention, step, stored, results }: TuneOutcome, info: EngineInfo | null): string {
  return JSON.stringify({ info, attention, step, stored, results }, null, 2);
}
