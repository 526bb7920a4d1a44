// The report of a run: its keys, its figures and its warnings.

import { expect, test } from 'vitest';
import { runReport } from '../../../src/engine/page/run_report';
import { heard, info, metrics, repeated } from '../heard_run';

test('the JSON has every figure unchanged, and a repeated warning once', () => {
  const { attention, step, ttftMs, prefillTokensPerSecond, decodeTokensPerSecond, tbtMs, gpuMs, perToken, ...rest } =
    runReport(heard);
  expect({ attention, step, ttftMs, prefillTokensPerSecond, decodeTokensPerSecond, tbtMs, gpuMs, perToken }).toEqual({
    attention: metrics.attention,
    step: metrics.step,
    ttftMs: 123.4,
    prefillTokensPerSecond: 80,
    decodeTokensPerSecond: 95.25,
    tbtMs: metrics.tbtMs,
    gpuMs: null,
    perToken: metrics.perToken,
  });
  expect(rest).toEqual({
    model: 'storyteller',
    adapter: 'SwiftShader',
    backend: 'webgpu',
    promptIds: [1, 2],
    ids: [5, 6, 7],
    text: 'Once upon a',
    finishReason: 'length',
    warnings: [repeated, { code: 'other', message: 'Another.' }],
    runAhead: 2,
    peakGpuBytes: 21_000_000,
  });
});

test('a run kept from before there were steps has none', () => {
  const older = { ...metrics, step: undefined } as unknown as typeof metrics;
  expect(runReport({ ...heard, info: null, done: { ...heard.done!, metrics: older } }).step).toBeNull();
});

test('a run without `done` has the same keys, the figures measured without it, and null for the others', () => {
  const { tbtMs } = metrics;
  const report = runReport({ ...heard, promptIds: null, done: null, measured: { ttftMs: 7, tbtMs } });
  expect(Object.keys(report)).toEqual(Object.keys(runReport(heard)));
  expect(report).toMatchObject({
    model: 'storyteller',
    attention: info.attention,
    step: info.step,
    ids: [5, 6, 7],
    ttftMs: 7,
    tbtMs,
  });
  const unknown = Object.entries(report).filter(([, value]) => value === null);
  expect(unknown.map(([key]) => key)).toEqual([
    'promptIds',
    'finishReason',
    'prefillTokensPerSecond',
    'decodeTokensPerSecond',
    'gpuMs',
    'perToken',
    'runAhead',
    'peakGpuBytes',
  ]);
});
