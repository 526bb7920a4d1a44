// Exports of a run as JSON and CSV.

import { expect, test } from 'vitest';
import { runReport } from '../../../src/engine/page/run_report';
import type { EngineEvent, EngineInfo } from '../../../src/engine/protocol';
import { summarizeGaps } from '../../../src/engine/tbt';
import { runToCsv, runToJson } from '../../../src/metrics/run/export';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { tokenEvent } from '../events';

const HEADER =
  'token,id,position,tbt_ms,gpu_ms,in_flight_ms,worker_ms,received_ms,painted_ms,recovery_ms,pipelines,stall,place';
const attention = { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'a test' } as const;
const info = {
  model: { name: 'tiny' },
  backend: 'webgpu',
  adapter: 'a GPU',
  attention,
  warnings: [{ code: 'w', message: 'Said at load.' }],
} as EngineInfo;

const events: EngineEvent[] = [
  { type: 'start', choice: 0, promptIds: [1, 2], cachedTokens: 0 },
  { type: 'warning', code: 'w', message: 'Said at load.' },
  tokenEvent({ id: 5, text: '=cmd()', position: 9, atMs: 990, inFlightMs: 7.12345, workerMs: null }),
  tokenEvent({ id: 6, text: ',', tbtMs: 1.5, position: 10, atMs: 991.5, inFlightMs: 3 }),
];
const done: EngineEvent = {
  type: 'done',
  text: ' end',
  finishReason: 'stop',
  seed: 3,
  usage: { promptTokens: 2, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 },
  metrics: {
    attention,
    step: { name: 'plain', reason: 'a test', gain: null, giveUps: 0 },
    ttftMs: 9,
    tokenizeMs: 1,
    prefillMs: 8,
    prefillTokensPerSecond: 250,
    decodeTokensPerSecond: 666,
    tbtMs: summarizeGaps([1.5]),
    gpuMs: summarizeGaps([0.25]),
    perToken: { dispatches: 43, submits: 1, syncs: 1, bytesRead: 4 },
    runAhead: 4,
    peakGpuBytes: 1000,
  },
};

function runOf(heard: readonly EngineEvent[]): RunRecord {
  const frames: (() => () => void)[] = [];
  const run = new RunRecord({ now: () => 1000, onPaint: (inFrame) => void frames.push(inFrame) });
  for (const event of heard) run.record(event);
  for (const frame of frames) frame()();
  return run;
}

test('the JSON has the object of generate --json for the same events', () => {
  const thinking: EngineEvent = { type: 'reasoning', text: 'Hm.' };
  const call: EngineEvent = { type: 'tool-call', index: 0, id: 'call_1', name: 'cmd', arguments: '{}' };
  const parts = [thinking, call];
  const told = { info, warnings: [], promptIds: [1, 2], ids: [5, 6], text: '=cmd(), end', parts, done };
  expect(JSON.parse(runToJson(runOf([...events, ...parts, done]), info, null))).toMatchObject(
    JSON.parse(JSON.stringify(runReport(told))),
  );
});

test('the JSON has log probabilities if the tokens have them', () => {
  const logprobs = { chosen: { id: 5, token: 'x', bytes: [120], logprob: -0.5 }, top: [] };
  const run = runOf([events[0], tokenEvent({ id: 5, logprobs }), events[3], done]);
  expect(JSON.parse(runToJson(run, info, null)).logprobs).toEqual([logprobs, null]);
  expect('logprobs' in JSON.parse(runToJson(runOf([...events, done]), info, null))).toBe(false);
});

test('the JSON of a run without an end has what is known, and null for the rest', () => {
  const run = runOf(events);
  run.isEnded = true;
  const report = JSON.parse(runToJson(run, info, null));
  expect(Object.keys(report)).toEqual(Object.keys(JSON.parse(runToJson(runOf([...events, done]), info, null))));
  expect(report).toMatchObject({ model: 'tiny', ids: [5, 6], text: '=cmd(),', attention, ttftMs: 0 });
  expect(report.tbtMs).toMatchObject({ mean: 1.5, perToken: [1.5] });
  expect([report.finishReason, report.gpuMs, report.perToken, report.runAhead]).toEqual(Array(4).fill(null));
  expect(JSON.parse(runToJson(runOf([]), null, null)).model).toBeNull();
});

test('the CSV holds only numbers, and empty cells for unknown ones', () => {
  expect(runToCsv(runOf([...events, done]))).toBe(
    `${HEADER}\n1,5,9,,,7.123,,10,10,,0,,local\n2,6,10,1.5,0.25,3,0.1,8.5,8.5,,0,,local\n`,
  );
  expect(runToCsv(runOf(events))).toContain('\n2,6,10,1.5,,3,0.1,8.5,8.5,,0,,local\n');
  const unpainted = new RunRecord({ now: () => 1000, onPaint: () => {} });
  unpainted.record(events[2]);
  expect(runToCsv(unpainted)).toBe(`${HEADER}\n1,5,9,,,7.123,,10,,,0,,local\n`);
});

test('a recovery is in both: its cause, its pause, the token before it', () => {
  const [first, ...rest] = events.filter(({ type }) => type === 'token');
  const loss = { type: 'interrupted', code: 'device-lost', message: 'The GPU was lost.' } as const;
  const end = { type: 'recovered', message: 'It goes on.', backend: 'cpu', pauseMs: 1800 } as const;
  const back = { ...end, message: 'The GPU is back.', backend: 'webgpu', pauseMs: 200 } as const;
  const run = runOf([first, loss, loss, end, back, ...rest, loss]);
  const told = { afterToken: 1, code: 'device-lost', message: 'The GPU was lost.' };
  expect(JSON.parse(runToJson(run, info, null)).recoveries).toEqual([
    { ...told, pauseMs: null, backend: null }, // lost again while the model loaded
    { ...told, pauseMs: 1800, backend: 'cpu' },
    { afterToken: 1, code: null, message: 'The GPU is back.', pauseMs: 200, backend: 'webgpu' },
    { ...told, afterToken: 2, pauseMs: null, backend: null },
  ]);
  const cells = runToCsv(run)
    .trim()
    .split('\n')
    .map((line) => line.split(',').at(-4));
  expect(cells).toEqual(['recovery_ms', '', '2000']);
});
