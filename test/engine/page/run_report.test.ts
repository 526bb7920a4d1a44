// The report of a run: its keys, its figures and its warnings.

import { expect, test } from 'vitest';
import { runReport } from '../../../src/engine/page/run_report';
import { heard, info, metrics, repeated } from '../doubles/heard_run';

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
    reasoning: '',
    toolCalls: [],
    finishReason: 'length',
    recoveries: [],
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

test('thinking and calls are put together from their parts, and log probabilities are there if asked for', () => {
  const report = runReport({
    ...heard,
    parts: [
      { type: 'reasoning', text: 'Two ' },
      { type: 'reasoning', text: 'calls.' },
      { type: 'tool-call', index: 0, id: 'call_a', name: 'weather', arguments: '{"city":' },
      { type: 'tool-call', index: 1, id: 'call_b', name: 'time', arguments: '' },
      { type: 'tool-call', index: 0, arguments: '"Oslo"}' },
      { type: 'tool-call-error', index: 1, message: 'No JSON.', text: 'time(now)' },
      { type: 'tool-call-error', index: 2, message: 'No such tool.', text: 'fly()' },
    ],
    logprobs: [null],
  });
  expect(report.reasoning).toBe('Two calls.');
  expect(report.toolCalls).toEqual([
    { id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' },
    { id: 'call_b', name: 'time', arguments: '', error: 'No JSON.', text: 'time(now)' },
    { id: '', name: '', arguments: '', error: 'No such tool.', text: 'fly()' },
  ]);
  expect(report.logprobs).toEqual([null]);
  expect('logprobs' in runReport(heard)).toBe(false);
});
