// The record of a run: gaps and figures, live and final, and the times of arrival and painting.

import { expect, test } from 'vitest';
import type { EngineEvent, EngineInfo, RunMetrics } from '../../../src/engine/protocol';
import { summarizeGaps } from '../../../src/engine/tbt';
import { figureGroups, headline } from '../../../src/metrics/panel/figures';
import { gpuMsOf } from '../../../src/metrics/run/run_data';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { formatBytes, formatMs, formatRate } from '../../../src/metrics/shared/figure_format';
import { tokenEvent } from '../events';

/** A run of n tokens. The gap before token i (from 2) is i ms. */
function runOf(n: number): RunRecord {
  let now = 100;
  const run = new RunRecord({ now: () => now });
  run.record({ type: 'prefill', done: 5, total: 5 });
  now = 184;
  for (let i = 1; i <= n; i++) {
    run.record(tokenEvent({ id: 1000 + i, text: `t${i}`, tbtMs: i === 1 ? null : i, position: 4 + i }));
  }
  return run;
}

function doneAfter(run: RunRecord): EngineEvent {
  const metrics: RunMetrics = {
    attention: { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'short cache' },
    step: { name: 'plain', reason: 'a test', gain: null, giveUps: 0 },
    ttftMs: 90,
    tokenizeMs: 0.5,
    prefillMs: 80,
    prefillTokensPerSecond: 62.5,
    decodeTokensPerSecond: 250,
    tbtMs: summarizeGaps(run.gaps),
    perToken: { dispatches: 33, submits: 1, syncs: 0.25, bytesRead: 4 },
    runAhead: 6,
    peakGpuBytes: 1 << 20,
  };
  const usage = { promptTokens: 5, cachedTokens: 2, completionTokens: run.tokens.length, reasoningTokens: 0 };
  return { type: 'done', text: '', finishReason: 'eos', seed: 7, usage, metrics };
}

const value = (run: RunRecord, key: string, info: EngineInfo | null = null) =>
  [...headline(run), ...figureGroups(run, info).flatMap((g) => g.figures)].find((f) => f.key === key)?.value;

for (const n of [0, 1, 2, 1000]) {
  test(`a run of ${n} tokens has ${Math.max(0, n - 1)} points and figures that make sense`, () => {
    const run = runOf(n);
    expect(run.gaps).toHaveLength(Math.max(0, n - 1));
    expect(run.tokenNumbers).toHaveLength(Math.max(0, n - 1));
    if (n > 1) expect(run.tokenNumbers[0]).toBe(2);
    expect(run.ttftMs).toBe(n === 0 ? null : 84);
    for (const figure of [...headline(run), ...figureGroups(run, null).flatMap((g) => g.figures)]) {
      expect(figure.value).not.toMatch(/NaN|undefined|null|Infinity/);
      expect(figure.definition.length).toBeGreaterThan(10);
    }
  });
}

test('thinking counts like any token, and a mark stands where the answer begins', () => {
  const run = new RunRecord();
  const say = (text: string) => run.record(tokenEvent({ id: 1, text, tbtMs: 1, position: 1 }));
  say('');
  run.record({ type: 'reasoning', text: 'Let me' });
  say('\n');
  for (const text of ['So', ' it', ' is']) say(text);
  expect(run.tokens).toHaveLength(5);
  expect(run.marks.map(({ afterToken, label }) => [afterToken, label])).toEqual([[3, 'answer']]);
});

test('percentiles and speed are live before the run is done', () => {
  const run = runOf(5); // gaps 2, 3, 4, 5
  expect(run.isRunning).toBe(true);
  expect(value(run, 'p50')).toBe('3.00 ms');
  expect(run.decodeTokensPerSecond).toBeCloseTo(1000 / 3.5);
  expect(value(run, 'dispatches')).toBe('–');
});

test('the engine’s own figures replace the live ones', () => {
  const run = runOf(5);
  run.record(doneAfter(run));
  expect(run.isRunning).toBe(false);
  expect(run.ttftMs).toBe(90);
  expect(value(run, 'decode-rate')).toBe('250 tok/s');
  expect(value(run, 'syncs')).toBe('0.3');
  expect(value(run, 'run-ahead')).toBe('6');
  expect(value(run, 'tokens')).toBe('5 in, 5 out');
});

/** A clock and frames under the test's control. */
function stage() {
  const frames: (() => () => void)[] = [];
  const clock = { now: 1000 };
  const run = new RunRecord({ now: () => clock.now, onPaint: (inFrame) => void frames.push(inFrame) });
  return { run, clock, frames };
}

test('a token has the times of its arrival in the page and of its painting', () => {
  const { run, clock, frames } = stage();
  const hear = (at: number, atMs: number) => {
    clock.now = at;
    run.record(tokenEvent({ atMs, tbtMs: run.tokens.length === 0 ? null : 1 }));
  };
  hear(1002, 1000);
  hear(1003, 1001);
  expect(frames).toHaveLength(1); // one for both
  expect(run.tokens.map((token) => [token.receivedMs, token.paintedMs])).toEqual([
    [2, null],
    [2, null],
  ]);
  const painted = frames[0]();
  hear(1010, 1009); // too late for this frame
  clock.now = 1012;
  painted();
  expect(run.tokens.map((token) => token.paintedMs)).toEqual([12, 11, null]);
  expect(frames).toHaveLength(2);
  const next = frames[1]();
  clock.now = 1028;
  next();
  expect(run.tokens.map((token) => token.paintedMs)).toEqual([12, 11, 19]);
});

test('two clocks that differ by a little give no time below zero', () => {
  const { run, frames } = stage();
  run.record(tokenEvent({ atMs: 1000.4 }));
  frames[0]()();
  expect([run.tokens[0].receivedMs, run.tokens[0].paintedMs]).toEqual([0, 0]);
});

test('early figures give way to the engine’s own', () => {
  const run = runOf(3);
  expect([run.isEnded, run.ttftMs, run.tbt.max, run.metrics]).toEqual([false, 84, 3, null]);
  run.record(doneAfter(run));
  expect(run).toMatchObject({ isEnded: true, ttftMs: 90, finishReason: 'eos', seed: 7 });
});

test('the label says what the run was made on', () => {
  const info = { kvCache: 'f16', activations: 'q8', attention: { decode: 'split_kv_decode' } } as EngineInfo;
  const run = new RunRecord({ info, now: () => 0 });
  expect(run.label).toBe('split_kv_decode, KV f16, activations q8');
  run.record(doneAfter(run)); // names the attention and the step that ran
  expect(run.label).toBe('fused_decode, plain step, KV f16, activations q8');
  expect(new RunRecord().label).toBe('');
  const choice = { name: 'fused', reason: 'measured here', gain: 0.38, giveUps: 0 } as const;
  expect(new RunRecord({ info: { ...info, step: choice } }).label).toBe(
    'split_kv_decode, fused step, KV f16, activations q8',
  );
});

test('the time of a step belongs to the token that it brought', () => {
  const run = runOf(3);
  const done = doneAfter(run) as Extract<EngineEvent, { type: 'done' }>;
  const times: EngineEvent = { type: 'gpuTimes', gpuMs: summarizeGaps([0.25, 0.5]) };
  run.record(times); // of a run before, whose record has been closed
  run.record(done);
  expect([0, 1, 2, 3].map((i) => gpuMsOf(run, i))).toEqual([null, null, null, null]);
  run.record(times);
  expect([0, 1, 2, 3].map((i) => gpuMsOf(run, i))).toEqual([null, 0.25, 0.5, null]);
});

test('numbers keep three digits that mean something', () => {
  expect([0, 0.421, 7.346, 84.04, 184.4, 2100, 12_345].map(formatMs)).toEqual([
    '0.00 ms',
    '0.42 ms',
    '7.35 ms',
    '84.0 ms',
    '184 ms',
    '2.10 s',
    '12.3 s',
  ]);
  expect([0, 4, 1536, 27_400_192, 5e9].map(formatBytes)).toEqual(['0 B', '4 B', '1.5 kB', '27.4 MB', '5.0 GB']);
  expect([null, 3.149, 2133].map(formatRate)).toEqual(['–', '3.1 tok/s', '2133 tok/s']);
});
