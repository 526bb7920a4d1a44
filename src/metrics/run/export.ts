// A run as JSON (the object of `generate --json`) and as CSV (one line per token, numbers alone), a tuning as JSON. Pure.

import { type EngineInfo, runReport, type TuneOutcome } from '../../engine/engine';
import { gpuMsOf, type RunData } from './run_data';

/** `info` where the run itself knows none. A run without `done` has what is known, and null for the rest. */
export function runToJson(run: RunData, info: EngineInfo | null): string {
  const { tokens, warnings, done, ttftMs, tbt: tbtMs, decodeTokensPerSecond } = run;
  const ids = tokens.map((token) => token.id);
  const text = tokens.map((token) => token.text).join('') + (done?.text ?? '');
  const measured = { ttftMs, tbtMs, decodeTokensPerSecond };
  return JSON.stringify(runReport({ info: run.info ?? info, warnings, ids, text, done, measured }));
}

/** Microseconds: finer digits are rounding errors of subtraction. */
const rounded = (ms: number | null) => (ms === null ? '' : Math.round(ms * 1000) / 1000);

/**
 * Columns: token (from 1), id, position in the context, and milliseconds: the gap before it, the GPU's own step time, and its
 * stages as RecordedToken has them. What is not known is empty. No text: a spreadsheet would run a cell that starts with `=`.
 */
export function runToCsv(run: RunData): string {
  const lines = run.tokens.map(({ id, position, ...token }, i) => {
    const { tbtMs, inFlightMs, workerMs, receivedMs, paintedMs } = token;
    const times = [tbtMs, gpuMsOf(run, i), inFlightMs, workerMs, receivedMs, paintedMs];
    return [i + 1, id, position, ...times.map(rounded)].join(',');
  });
  const header = 'token,id,position,tbt_ms,gpu_ms,in_flight_ms,worker_ms,received_ms,painted_ms';
  return `${[header, ...lines].join('\n')}\n`;
}

/** All that a tuning found, with the machine and the shape that it holds for. */
export function tuneToJson({ attention, stored, results }: TuneOutcome, info: EngineInfo | null): string {
  return JSON.stringify({ info, attention, stored, results }, null, 2);
}
