// The events of one run of three tokens, for tests of its report.

import type { RunHeard } from '../../../src/engine/page/run_report';
import type { EngineInfo, RunMetrics } from '../../../src/engine/protocol';

export const metrics: RunMetrics = {
  attention: { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'short cache' },
  step: { name: 'fused', reason: 'measured here', gain: 0.38, giveUps: 1 },
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

/** A warning of the load, repeated by the run. */
export const repeated = { code: 'context-lowered', message: 'Context lowered to 512.' };

export const info: EngineInfo = {
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
  attention: { prefill: 'chunked', decode: 'eager', reason: 'at load' },
  askedAttention: 'auto',
  step: { name: 'fused', reason: 'measured here', gain: 0.38, giveUps: 0 },
  hasChatTemplate: true,
  tools: false,
  thinking: 'none',
  embeddings: { pooling: 'last', size: 64, only: false },
  gpuBytes: null,
  bytesPerToken: null,
  loadMs: { open: 1, weights: 1, compile: 1 },
  warnings: [repeated],
};

export const heard = {
  info,
  warnings: [{ ...repeated }, { code: 'other', message: 'Another.' }],
  promptIds: [1, 2],
  ids: [5, 6, 7],
  text: 'Once upon a',
  parts: [],
  done: {
    type: 'done',
    text: '',
    finishReason: 'length',
    seed: 0,
    usage: { promptTokens: 2, cachedTokens: 0, completionTokens: 3, reasoningTokens: 0 },
    metrics,
  },
} satisfies RunHeard;
