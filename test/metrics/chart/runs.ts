// Runs with given gaps, as input of the chart's views.

import type { ChartInput } from '../../../src/metrics/chart/views/picture';
import { RunRecord } from '../../../src/metrics/run/run_record';

/** A run with these gaps, whose first token is at position `from`. */
export function runOf(gaps: number[], from = 10): RunRecord {
  const record = new RunRecord({ now: () => 1005 });
  record.record({ type: 'prefill', done: from, total: from });
  [null, ...gaps].forEach((tbtMs, i) => {
    const workerMs = i === 0 ? null : 0.25;
    record.record({
      type: 'token',
      id: i,
      text: ` t${i}`,
      tbtMs,
      position: from + i,
      atMs: 1000,
      inFlightMs: 12,
      workerMs,
    });
  });
  return record;
}

/** A run of 5 gaps whose first 3 tokens are a server's. */
export function movedRun(): RunRecord {
  const run = runOf([5, 6, 7, 8, 9]);
  run.places.push({ afterToken: 0, place: 'remote' }, { afterToken: 3, place: 'local' });
  return run;
}

export function inputOf(newest: RunRecord, more: Partial<ChartInput> = {}): ChartInput {
  return {
    run: newest,
    tbt: newest.tbt,
    stalls: [],
    pins: [],
    past: [],
    isLog: false,
    columns: 300,
    zoom: null,
    ...more,
  };
}
