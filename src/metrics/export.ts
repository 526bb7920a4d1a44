// A run as JSON (everything) and as CSV (one line per token, numbers alone), a tuning as JSON. Pure, but for `saveText`.

import type { EngineInfo, TuneOutcome } from '../engine/engine';
import type { RunRecord } from './run_record';

export function runToJson(run: RunRecord, info: EngineInfo | null): string {
  const { tokens, usage, finishReason, seed, warnings, marks, metrics } = run;
  const text = tokens.map((token) => token.text).join('');
  const summary = metrics ?? { ttftMs: run.ttftMs, tbtMs: run.tbt };
  return JSON.stringify({ info, finishReason, seed, usage, metrics: summary, marks, warnings, text, tokens }, null, 2);
}

/**
 * Columns: token (from 1), id, position in the context, gap before it in ms (empty for the first), the GPU's own step time
 * where every token has one. No text: a spreadsheet would run a cell that starts with `=`.
 */
export function runToCsv(run: RunRecord): string {
  // Microseconds: finer digits are rounding errors of subtraction.
  const rounded = (ms: number | null | undefined) =>
    ms === null || ms === undefined ? '' : Math.round(ms * 1000) / 1000;
  const gpu = run.metrics?.gpuMs?.perToken;
  const lines = run.tokens.map((token, i) =>
    [i + 1, token.id, token.position, rounded(token.tbtMs), rounded(gpu?.[i - 1])].join(','),
  );
  return `${['token,id,position,tbt_ms,gpu_ms', ...lines].join('\n')}\n`;
}

/** All that a tuning found, with the machine and the shape that it holds for. */
export function tuneToJson({ attention, stored, results }: TuneOutcome, info: EngineInfo | null): string {
  return JSON.stringify({ info, attention, stored, results }, null, 2);
}

/** Hands a text to the browser's downloads. */
export function saveText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
