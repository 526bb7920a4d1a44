// Synthetic runs for the panel of the real built page: engine events at times that the test chooses.

import type { Page } from 'playwright-core';
import { summarizeGaps, type TbtSummary } from '../../../src/engine/tbt';

export interface FedRun {
  /** Milliseconds before each token except the first. */
  gaps: number[];
  /** Texts of the tokens, the last one repeated. Default: ' word'. */
  texts?: string[];
  /** The position of the first token, and the number of prompt tokens. Default: 17. */
  from?: number;
  attention?: string;
  /** Null: a run of an engine that knew no steps. */
  step?: object | null;
  kvCache?: string;
  /** False for a run without `done`. Default: true. */
  isDone?: boolean;
  /** A warning in the middle of the answer. */
  warning?: string;
  /** False for a run whose GPU times the test sends itself. Default: true. */
  isTimed?: boolean;
  gpuMs?: number;
}

/** Plays a whole synthetic answer into the panel, at once. */
export async function feed(page: Page, run: FedRun): Promise<void> {
  const { gaps, gpuMs = 0.6 } = run;
  const gpu = summarizeGaps(gaps.map(() => gpuMs));
  await page.waitForFunction(() => customElements.get('vivace-metrics')); // it comes after the first paint
  await page.evaluate(play, { ...run, tbt: summarizeGaps(gaps), gpu });
}

/** Runs in the page, so it must not use anything outside. */
function play({
  gaps,
  texts = [' word'],
  from = 17,
  attention = 'fused_decode',
  step = { name: 'plain', reason: 'the adapter has no subgroups', gain: null, giveUps: 0 },
  kvCache = 'f16',
  isDone = true,
  warning,
  isTimed = true,
  tbt,
  gpu,
}: FedRun & { tbt: TbtSummary; gpu: TbtSummary }): void {
  // biome-ignore lint/suspicious/noExplicitAny: the panel of a built page has no types
  const panel = document.querySelector('vivace-metrics') as any;
  const choice = { prefill: 'flash_prefill', decode: attention, reason: 'the test says so' };
  if (panel.info?.kvCache !== kvCache) {
    panel.info = {
      model: {
        name: 'script',
        architecture: 'llama',
        parameters: 1,
        nLayers: 6,
        hiddenSize: 288,
        nHeads: 6,
        nKvHeads: 6,
        headDim: 48,
        vocabSize: 32000,
        format: 'Q8_0',
        fileBytes: 26_115_072,
      },
      backend: 'webgpu',
      adapter: 'Example GPU',
      contextLength: 1024,
      kvCache,
      activations: 'q8',
      attention: choice,
      askedAttention: 'auto',
      step,
      hasChatTemplate: true,
      tools: false,
      thinking: 'none',
      embeddings: { pooling: 'last', size: 288, only: false },
      gpuBytes: { weights: 27_400_192, kvCache: 7_077_888, activations: 1_204_224 },
      bytesPerToken: { weights: 15_000_000, kvPerPosition: 6912 },
      loadMs: { open: 41, weights: 612, compile: 188 },
      warnings: [],
    };
  }
  panel.reset();
  panel.record({ type: 'prefill', done: from, total: from });
  let atMs = performance.timeOrigin + performance.now() - 5;
  [null, ...gaps].forEach((tbtMs, i) => {
    if (warning && i === gaps.length >> 1) panel.record({ type: 'warning', code: 'step-gave-up', message: warning });
    const text = texts[Math.min(i, texts.length - 1)];
    panel.record({
      type: 'token',
      id: i,
      text,
      tbtMs,
      position: from + i,
      atMs,
      inFlightMs: 12.1,
      workerMs: i === 0 ? null : 0.25,
    });
    atMs += 0.01;
  });
  const total = gaps.length + 1;
  const metrics = {
    attention: choice,
    step,
    ttftMs: 40,
    tokenizeMs: 0.5,
    prefillMs: 31,
    prefillTokensPerSecond: 548,
    decodeTokensPerSecond: tbt.mean && 1000 / tbt.mean,
    tbtMs: tbt,
    perToken: { dispatches: 43, submits: 1, syncs: 1, bytesRead: 4 },
    runAhead: 8,
    peakGpuBytes: 41_205_760,
  };
  const usage = { promptTokens: from, cachedTokens: 0, completionTokens: total, reasoningTokens: 0 };
  if (isDone)
    panel.record({
      type: 'done',
      text: '',
      finishReason: 'eos',
      seed: 1,
      usage,
      metrics,
    });
  if (isDone) panel.end();
  if (isDone && isTimed) panel.record({ type: 'gpuTimes', gpuMs: gpu });
}
