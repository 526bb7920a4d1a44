import { expect, test } from 'vitest';
import type { EngineInfo, RunMetrics } from '../../src/engine/protocol';
import { type RunHeard, runReport } from '../../src/engine/run_report';

const metrics: RunMetrics = {
  attention: { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'short cache' },
  ttftMs: 123.4,
  tokenizeMs: 1,
  prefillMs: 100,
  prefillTokensPerSecond: 80,
  decodeTokensPerSecond: 95.25,
  tbtMs: { mean: 10.5, p50: 10, p95: 11, p99: 11, max: 11, jitter: 1, perToken: [10, 11] },
  gpuMs: null,
  perToken: { dispatches: 33, submits: 1, syncs: 0, bytesRead: 4 },
  runAhead: 2,
  peakGpuBytes: 21_000_000,
};
const repeated = { code: 'context-lowered', message: 'Context lowered to 512.' };
const atLoad = { prefill: 'chunked', decode: 'eager', reason: 'at load' } as const;
const info = {
  model: { name: 'storyteller' },
  backend: 'webgpu',
  adapter: 'SwiftShader',
  attention: atLoad,
  warnings: [repeated],
} as unknown as EngineInfo;
const heard: RunHeard = {
  info,
  warnings: [{ ...repeated }, { code: 'other', message: 'Another.' }],
  ids: [5, 6, 7],
  text: 'Once upon a',
  done: {
    type: 'done',
    text: '',
    finishReason: 'length',
    seed: 0,
    promptIds: [1, 2],
    usage: { promptTokens: 2, cachedTokens: 0, completionTokens: 3 },
    metrics,
  },
};

test('the JSON takes every figure as the engine gave it, and says a warning once', () => {
  const { attention, ttftMs, prefillTokensPerSecond, decodeTokensPerSecond, tbtMs, gpuMs, perToken, ...rest } =
    runReport(heard);
  expect({ attention, ttftMs, prefillTokensPerSecond, decodeTokensPerSecond, tbtMs, gpuMs, perToken }).toEqual({
    attention: metrics.attention,
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

test('a run without `done` has the same keys, what was measured without it, and null', () => {
  const { tbtMs } = metrics;
  const report = runReport({ ...heard, done: null, measured: { ttftMs: 7, tbtMs } });
  expect(Object.keys(report)).toEqual(Object.keys(runReport(heard)));
  expect(report).toMatchObject({ model: 'storyteller', attention: atLoad, ids: [5, 6, 7], ttftMs: 7, tbtMs });
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
