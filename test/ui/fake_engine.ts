// An engine of the same shape as the real one, which tells one story in made-up time. For looking at the page without a model; never shipped.
// The page's address steers it: ?model=…missing fails with 404, …html with HTML, …slow loads slowly; a prompt with "error" fails midway.

import type { EngineTuneOptions } from '../../src/engine/engine';
import type {
  ChatMessage,
  EngineEvent,
  EngineInfo,
  LoadOptions,
  LoadProgress,
  ModelLocation,
  Roofline,
  RunMetrics,
  TuneOutcome,
  TuneResult,
} from '../../src/engine/protocol';
import { VivaceError } from '../../src/errors';
import { summariseGaps } from '../../src/metrics/tbt_stats';
import { fakeResults } from './fake_tuning';

export { VivaceError };

const STORY = `Once upon a time, in a small house by the sea, there lived a brave cat named Milo. Milo had soft grey fur and a **very long tail**.

One night the wind blew hard, and a little bird fell from its nest. "Oh no!" said Milo. He climbed the tall tree, step by step:

1. first the low branch,
2. then the *wet* branch,
3. and at last the nest.

The bird's mother sang a song for him. \`purr\`, said Milo, and he was not afraid of the wind any more. From that day on they were friends, and when the wind blew, they sat together and looked at the sea. The end.
`;

const wait = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (signal?.aborted) return reject(new DOMException('Aborted', 'AbortError'));
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Aborted', 'AbortError'));
    });
  });

function infoFor(options: LoadOptions): EngineInfo {
  const onCpu = options.backend === 'cpu';
  return {
    model: {
      name: 'storyteller',
      architecture: 'llama',
      parameters: 15_191_712,
      nLayers: 6,
      hiddenSize: 288,
      nHeads: 6,
      nKvHeads: 6,
      headDim: 48,
      vocabSize: 32_000,
      format: 'Q8_0 + F32',
      fileBytes: 26_115_072,
    },
    backend: onCpu ? 'cpu' : 'webgpu',
    adapter: onCpu ? null : 'Example GPU (architecture-9)',
    contextLength: options.contextLength ?? 1024,
    kvCache: options.kvCache ?? 'f16',
    activations: 'q8',
    attention: onCpu
      ? { prefill: 'textbook', decode: 'textbook', reason: 'The cpu backend runs the textbook forward pass.' }
      : {
          prefill: 'flash_prefill',
          decode: 'fused_decode',
          reason: 'fused_decode: the cache is shorter than 2048 tokens, so one workgroup per KV head is enough.',
        },
    hasChatTemplate: true,
    gpuBytes: onCpu ? null : { weights: 27_400_192, kvCache: 7_077_888, activations: 1_204_224 },
    bytesPerToken: onCpu ? null : { weights: 16_100_000, kvPerPosition: 6912 },
    loadMs: { open: 41, weights: 612, compile: 188 },
    warnings: onCpu
      ? [{ code: 'no-webgpu', message: 'WebGPU is not available here, so the model runs on the CPU, slowly.' }]
      : [],
  };
}

export class Engine {
  metrics: RunMetrics | null = null;

  private constructor(readonly info: EngineInfo) {}

  static async load(
    model: ModelLocation,
    options: LoadOptions & { onProgress?: (p: LoadProgress) => void; signal?: AbortSignal } = {},
  ): Promise<Engine> {
    const address = typeof model === 'string' ? model : 'file';
    await wait(120, options.signal);
    if (address.includes('missing')) {
      throw Object.assign(new VivaceError('model-fetch', `${address} answered 404 Not Found.`), { status: 404 });
    }
    if (address.includes('html')) {
      throw Object.assign(new VivaceError('model-fetch', `${address} is a page of HTML, not a model file.`), {
        status: 200,
      });
    }
    const totalBytes = 26_115_072;
    const steps = address.includes('slow') ? 400 : 8;
    for (let i = 0; i <= steps; i++) {
      const loadedBytes = Math.round((totalBytes * i) / steps);
      const secondsLeft = ((steps - i) * 60) / 1000;
      options.onProgress?.({
        stage: 'weights',
        loadedBytes,
        totalBytes,
        bytesPerSecond: totalBytes / steps / 0.06,
        secondsLeft,
      });
      await wait(60, options.signal);
    }
    options.onProgress?.({
      stage: 'compile',
      loadedBytes: totalBytes,
      totalBytes,
      bytesPerSecond: null,
      secondsLeft: null,
    });
    await wait(150, options.signal);
    return new Engine(infoFor(options));
  }

  async *chat(
    messages: readonly ChatMessage[],
    options: { maxTokens?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<EngineEvent, void, undefined> {
    const prompt = messages.at(-1)?.content ?? '';
    const promptTokens = messages.reduce((n, m) => n + 4 + Math.ceil(m.content.length / 4), 0);
    if (prompt.includes('overflow')) {
      throw new VivaceError(
        'context-overflow',
        'The prompt has 1200 tokens, but the context holds 1024. Shorten the prompt.',
      );
    }
    const pieces = (prompt.includes('long') ? STORY.repeat(6) : STORY).match(/\s*\S{1,6}/g) ?? [];
    const start = performance.now();
    yield { type: 'prefill', done: 0, total: promptTokens };
    await wait(70);
    yield { type: 'prefill', done: promptTokens, total: promptTokens };
    const gaps: number[] = [];
    let last = performance.now();
    const ttftMs = last - start;
    const done = (finishReason: 'eos' | 'abort' | 'length', n: number): EngineEvent => {
      const tbtMs = summariseGaps(gaps);
      this.metrics = {
        attention: this.info.attention,
        ttftMs,
        tokenizeMs: 0.6,
        prefillMs: ttftMs - 3,
        prefillTokensPerSecond: (1000 * promptTokens) / ttftMs,
        decodeTokensPerSecond: tbtMs.mean ? 1000 / tbtMs.mean : null,
        tbtMs,
        gpuMs: null,
        perToken: this.info.backend === 'cpu' ? null : { dispatches: 33, submits: 1, syncs: 0.1, bytesRead: 4 },
        runAhead: 6,
        peakGpuBytes: 41_205_760,
      };
      const usage = { promptTokens, cachedTokens: 0, completionTokens: n };
      return { type: 'done', text: '', finishReason, seed: 1234, promptIds: [1, 2, 3], usage, metrics: this.metrics };
    };
    for (let i = 0; i < pieces.length; i++) {
      if (prompt.includes('error') && i === 40) {
        throw new VivaceError(
          'device-lost',
          'The GPU device was lost (the driver was reset). Load the model again to go on.',
        );
      }
      if (i === (options.maxTokens ?? Number.POSITIVE_INFINITY)) return yield done('length', i);
      if (options.signal?.aborted) return yield done('abort', i);
      if (i > 0) await wait(i === 57 ? 60 : 6 + 4 * Math.random());
      const now = performance.now();
      const tbtMs = i === 0 ? null : now - last;
      if (tbtMs !== null) gaps.push(tbtMs);
      last = now;
      const stages = { atMs: performance.timeOrigin + now, inFlightMs: 2 * (tbtMs ?? 4), workerMs: tbtMs && 0.1 };
      yield { type: 'token', id: i, text: pieces[i]!, tbtMs, position: promptTokens + i, ...stages };
    }
    yield done('eos', pieces.length);
  }

  complete(prompt: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<EngineEvent, void, undefined> {
    return this.chat([{ role: 'user', content: prompt }], options);
  }

  /** With `#refuse` in the page's address it fails midway, with `#frame` nothing is stored. */
  async tune({ onResult, signal }: EngineTuneOptions = {}): Promise<TuneOutcome> {
    const results = fakeResults();
    for (const [i, result] of results.entries()) {
      await wait(200, signal);
      const measured: TuneResult = { ...result, fastest: false };
      onResult?.(measured, i + 1, results.length);
      if (i === 9 && location.hash === '#refuse')
        throw new VivaceError('device-lost', 'The GPU device was lost (reset). Load the model again to go on.');
    }
    const reason = `tuned on this GPU on ${new Date().toISOString().slice(0, 10)}: fastest of 11 candidates in prefill, by cache length in decode`;
    this.info.attention = { prefill: 'flash_prefill', decode: 'split_kv_decode', reason };
    return { results, attention: this.info.attention, stored: location.hash !== '#frame' };
  }

  async roofline({ signal }: { signal?: AbortSignal } = {}): Promise<Roofline> {
    await wait(500, signal);
    return { readGBps: 812.4, clock: 'gpu' };
  }

  async unload(): Promise<void> {}
}
