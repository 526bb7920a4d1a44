// The line of a run in the list: whether two lines are of one run.

import { expect, test } from 'vitest';
import { isSameRun, summarize } from '../../../src/metrics/history/run_summary';
import { runToJson } from '../../../src/metrics/run/export';
import { runOf } from '../../../src/metrics/run/kept_run';
import { readRun } from '../../../src/metrics/run/run_parse';
import { fullRun } from '../run/full_run';

test('a run and its document have lines of one run, also with another id and name', () => {
  const run = fullRun();
  Object.assign(run.origin, { startedAt: run.origin.startedAt + 0.7 }); // as the clock of a page gives
  const document = readRun(runToJson(run, null, null));
  const there = summarize(runOf({ ...document, id: '0'.repeat(32), name: 'Copy' }), 0, 'a');
  expect(isSameRun(summarize(run, 1, null), there)).toBe(true);
  expect(isSameRun(summarize(run, 1, null), { ...there, startedAt: there.startedAt + 1 })).toBe(false);
});
