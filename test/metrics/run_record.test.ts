import { expect, test } from 'vitest';
import type { EngineEvent, EngineInfo, RunMetrics } from '../../src/engine/protocol';
import { runToCsv, runToJson } from '../../src/metrics/export';
import { formatBytes, formatMs, formatRate } from '../../src/metrics/figure_format';
import { figureGroups, headline } from '../../src/metrics/figures';
import { RunRecord } from '../../src/metrics/run_record';
import { summariseGaps } from '../../src/metrics/tbt_stats';

/** A run of n tokens; the gap before token i (from 2) is i ms. */
function runOf(n: number): RunRecord {
  let now = 100;
  const run = new RunRecord(() => now);
  run.record({ type: 'prefill', done: 5, total: 5 });
  now = 184;
  for (let i = 1; i <= n; i++) {
    run.record({ type: 'token', id: 1000 + i, text: `t${i}`, tbtMs: i === 1 ? null : i, position: 4 + i });
  }
  return run;
}

function doneAfter(run: RunRecord): EngineEvent {
  const metrics: RunMetrics = {
    attention: { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'short cache' },
    ttftMs: 90,
    tokenizeMs: 0.5,
    prefillMs: 80,
    prefillTokensPerSecond: 62.5,
    decodeTokensPerSecond: 250,
    tbtMs: summariseGaps(run.gaps),
    gpuMs: null,
    perToken: { dispatches: 33, submits: 1, syncs: 0.25, bytesRead: 4 },
    runAhead: 6,
    peakGpuBytes: 1 << 20,
  };
  const usage = { promptTokens: 5, cachedTokens: 2, completionTokens: run.tokens.length };
  return { type: 'done', text: '', finishReason: 'eos', seed: 7, promptIds: [1], usage, metrics };
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
    expect(runToCsv(run).trim().split('\n')).toHaveLength(n + 1);
    expect(JSON.parse(runToJson(run, null)).tokens).toHaveLength(n);
  });
}

test('percentiles and speed are live before the run is done', () => {
  const run = runOf(5); // gaps 2 3 4 5
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

test('a recovery is a mark in the chart and a warning', () => {
  const run = runOf(3);
  run.record({ type: 'recovered', message: 'The GPU was replaced.' });
  expect(run.marks).toEqual([{ afterToken: 3, label: 'GPU recovered' }]);
  expect(run.warnings[0]?.message).toBe('The GPU was replaced.');
});

test('the CSV holds numbers alone, the first gap empty', () => {
  const run = new RunRecord(() => 0);
  run.record({ type: 'token', id: 5, text: '=cmd()', tbtMs: null, position: 9 });
  run.record({ type: 'token', id: 6, text: ',', tbtMs: 1.5, position: 10 });
  expect(runToCsv(run)).toBe('token,id,position,tbt_ms,gpu_ms\n1,5,9,,\n2,6,10,1.5,\n');
});

test('the CSV puts the time of a step beside the token that it brought', () => {
  const run = runOf(3);
  const done = doneAfter(run) as Extract<EngineEvent, { type: 'done' }>;
  run.record({ ...done, metrics: { ...done.metrics, gpuMs: summariseGaps([0.25, 0.5]) } });
  const columns = runToCsv(run)
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').slice(-2).join());
  expect(columns).toEqual([',', '2,0.25', '3,0.5']);
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
  expect([0, 4, 1536, 27_400_192, 5e9].map(formatBytes)).toEqual(['0 B', '4 B', '1.50 KiB', '26.1 MiB', '4.66 GiB']);
  expect([null, 3.149, 2133].map(formatRate)).toEqual(['–', '3.1 tok/s', '2133 tok/s']);
});
