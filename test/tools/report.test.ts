import { expect, test } from 'vitest';
import type { EngineInfo, RunMetrics } from '../../src/engine/protocol';
import { runReport } from '../../src/engine/run_report';
import { type Run, table } from '../../tools/lib/report.mjs';

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

const info: EngineInfo = {
  model: {
    name: 'storyteller',
    architecture: 'llama',
    parameters: 1,
    nLayers: 1,
    hiddenSize: 1,
    nHeads: 1,
    nKvHeads: 1,
    headDim: 1,
    vocabSize: 1,
    format: 'Q8_0',
    fileBytes: 1,
  },
  backend: 'webgpu',
  adapter: 'SwiftShader',
  contextLength: 512,
  kvCache: 'f16',
  activations: 'f32',
  attention: metrics.attention,
  hasChatTemplate: true,
  gpuBytes: null,
  bytesPerToken: null,
  loadMs: { open: 1, weights: 1, compile: 1 },
  warnings: [repeated],
};

const heard = {
  info,
  warnings: [{ ...repeated }, { code: 'other', message: 'Another.' }],
  ids: [5, 6, 7],
  text: 'Once upon a',
  done: {
    type: 'done' as const,
    text: '',
    finishReason: 'length' as const,
    seed: 0,
    promptIds: [1, 2],
    usage: { promptTokens: 2, cachedTokens: 0, completionTokens: 3 },
    metrics,
  },
};

const run: Run = { ...heard, report: runReport(heard) };

test('the table for people', () => {
  expect(table(run).split('\n')).toEqual([
    '                           mean      p50      p95      p99      max   jitter',
    'TBT, ms                    10.5     10.0     11.0     11.0     11.0     1.00',
    'TTFT 123 ms; prefill 80.0 tok/s, decode 95.3 tok/s',
    '2 prompt tokens, 3 tokens generated, ended by length',
    'storyteller on webgpu (SwiftShader), KV f16, activations f32',
    'attention: prefill flash_prefill, decode fused_decode (short cache)',
    'per token: 33 dispatches, 1 submits, 0 syncs, 4 bytes read; run-ahead 2; 21.0 MB of GPU memory',
    'warning context-lowered: Context lowered to 512.',
    'warning other: Another.',
  ]);
});

test('what is unknown is a dash, and the cpu has no GPU line', () => {
  const none = { mean: null, p50: null, p95: null, p99: null, max: null, jitter: null, perToken: [] };
  const onCpu = { ...metrics, ttftMs: null, decodeTokensPerSecond: null, tbtMs: none, perToken: null };
  const done = { ...run.done, metrics: onCpu };
  const text = table({ ...run, done, report: runReport({ ...heard, done }) });
  expect(text).toContain('TTFT - ms; prefill 80.0 tok/s, decode - tok/s');
  expect(text).not.toContain('per token');
});
