// A run with a bit of everything, for tests of its document.

import type { EngineEvent } from '../../../src/engine/protocol';
import { summarizeGaps } from '../../../src/engine/tbt';
import { MARK } from '../../../src/metrics/run/run_data';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { info, metrics } from '../../engine/doubles/heard_run';
import { tokenEvent } from '../events';

const CACHE = { report: 'evicted', branches: 2, bytes: 3000 } as const;
const GAPS = [null, 4, 4.25, 4, 90, 4, 4, 0, 4.5, 4];

/** A run with thinking, calls, stalls, a recovery, marks, log probabilities, and settings. */
export function fullRun(): RunRecord {
  let now = 1_700_000_000_000;
  const frames: (() => () => void)[] = [];
  const sampling = { temperature: 0.7, thinking: 'on', seed: 5 };
  const origin = { name: 'A “run”', address: 'https://example.com/tiny.gguf', sampling, browser: 'A browser' };
  const run = new RunRecord({
    info,
    isFirst: true,
    origin,
    now: () => now,
    onPaint: (frame) => void frames.push(frame),
  });
  const events: EngineEvent[] = [
    { type: 'start', choice: 0, promptIds: [1, 2], cachedTokens: 1 },
    { type: 'prefill', done: 2, total: 2 },
    { type: 'warning', code: 'w', message: 'A warning.' },
    { type: 'reasoning', text: 'Hm.' },
    { type: 'tool-call', index: 0, id: 'call_1', name: 'cmd', arguments: '{}' },
    { type: 'tool-call-error', index: 1, message: 'No such tool.', text: '<call>' },
  ];
  for (const event of events) run.record(event);
  GAPS.forEach((tbtMs, i) => {
    now += (tbtMs ?? 10) + 0.123;
    if (i === 4) {
      run.mark(MARK.hidden);
      run.record({ type: 'interrupted', code: 'device-lost', message: 'The GPU was lost.' });
      run.record({ type: 'recovered', message: 'It goes on.', backend: 'webgpu', pauseMs: 80 });
    }
    const logprobs = { chosen: { id: i, token: 'x', bytes: [120], logprob: -0.5 }, top: [] };
    const stages = { atMs: now - 1.0625, inFlightMs: 9.5, workerMs: i === 0 ? null : 0.25 };
    const more = { ...(i === 3 && { pipelines: 2 }), ...(i === 1 && { logprobs }) };
    run.record(tokenEvent({ id: i, text: ` t${i}`, tbtMs, position: 9 + i, ...stages, ...more }));
    if (i === 5) for (const frame of frames.splice(0)) frame()();
  });
  const gaps = GAPS.filter((gap) => gap !== null);
  run.record({
    type: 'done',
    text: ' end',
    finishReason: 'length',
    seed: 5,
    usage: { promptTokens: 2, cachedTokens: 1, completionTokens: 10, reasoningTokens: 0 },
    metrics: {
      ...metrics,
      tbtMs: summarizeGaps(gaps),
      gpuMs: summarizeGaps(gaps.map((gap) => gap / 2)),
      batchSize: 2,
      cache: CACHE,
    },
  });
  return run;
}
