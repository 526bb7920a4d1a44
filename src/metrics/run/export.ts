// Exports: a run as JSON (the object of `generate --json`) or CSV (one line per token, numbers only), a tuning as JSON.
// Pure.

import { type EngineInfo, runReport, type TuneOutcome } from '../../engine/engine';
import { gpuMsOf, type RunData } from './run_data';

/** A run as JSON. `info` stands in where the run has none. Values still unknown in a run without `done` are null. */
export function runToJson(run: RunData, info: EngineInfo | null): string {
  const { promptIds, tokens, parts, warnings, recoveries, done, ttftMs, tbt: tbtMs, decodeTokensPerSecond } = run;
  const ids = tokens.map((token) => token.id);
  const text = tokens.map((token) => token.text).join('') + (done?.text ?? '');
  const logprobs = tokens.some((token) => token.logprobs) ? tokens.map((token) => token.logprobs ?? null) : undefined;
  const measured = { ttftMs, tbtMs, decodeTokensPerSecond };
  const heard = { warnings, recoveries, promptIds, ids, text, parts, logprobs, done, measured };
  return JSON.stringify(runReport({ info: run.info ?? info, ...heard }));
}

/** Rounds to microseconds: finer digits are rounding errors of subtraction. */
const rounded = (ms: number | null) => (ms === null ? '' : Math.round(ms * 1000) / 1000);

/**
 * A run as CSV. Columns: token (from 1), id, position in the context, and in milliseconds the gap before the token, the
 * GPU's own time of its step, the stages of RecordedToken, and the part of the gap that a recovery took. Unknown values
 * are empty. Texts are left out: a spreadsheet would run a cell that starts with `=`.
 */
export function runToCsv(run: RunData): string {
  const lines = run.tokens.map(({ id, position, ...token }, i) => {
    const { tbtMs, inFlightMs, workerMs, receivedMs, paintedMs } = token;
    const pause = pauseBefore(run, i);
    const times = [tbtMs, gpuMsOf(run, i), inFlightMs, workerMs, receivedMs, paintedMs, pause];
    return [i + 1, id, position, ...times.map(rounded)].join(',');
  });
  const header = 'token,id,position,tbt_ms,gpu_ms,in_flight_ms,worker_ms,received_ms,painted_ms,recovery_ms';
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
