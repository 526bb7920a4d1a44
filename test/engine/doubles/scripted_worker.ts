// A worker without a model, for tests of the page's half: it loads when the test lets it, answers with ids that are
// their positions, and goes on with answers that another worker began.

import { type Endpoint, expose, type Remote, transfer } from 'comlink';
import { toFailure } from '../../../src/engine/failure';
import type {
  EngineInfo,
  GenerateRequest,
  LoadOptions,
  LoadProgress,
  LoadResult,
  RunMetrics,
  TokenEvent,
} from '../../../src/engine/protocol';
import { DeviceLostError, WebGpuUnavailableError } from '../../../src/errors';
import { type FakeWorker, stubWorkers } from './fake_worker';

/** What the workers of a test share. */
export class Site {
  readonly workers: ScriptedWorker[] = [];
  hasGpu = true;
  /** Loads and embeddings wait for `release`. */
  holds = false;
  /** The errors of the next loads. */
  failures: Error[] = [];
  /** The errors of the next calls of tokenize. */
  tokenizeFailures: Error[] = [];
  /** Answers send so many tokens by themselves. */
  tokens = 0;
  /** New workers hold a lock by this name, once `held` has resolved. Null: the browser has no locks. */
  lock: { name: string; held: Promise<void> } | null = null;
  /** New workers do not answer. */
  isMute = false;
  parameters = 1e6;
  /** Loads ask for a second worker that hashes. */
  hashes = false;

  constructor() {
    const threads: FakeWorker[] = stubWorkers((scope) => {
      this.workers.push(new ScriptedWorker(this, scope, () => threads[this.workers.indexOf(worker)]));
      const worker = this.workers[this.workers.length - 1];
      expose(worker.api, scope as unknown as Endpoint);
    });
  }

  /** The workers that run. */
  get live(): ScriptedWorker[] {
    return this.workers.filter(({ thread }) => !thread.isTerminated);
  }

  get newest(): ScriptedWorker {
    return this.workers[this.workers.length - 1];
  }
}

interface Stream {
  request: GenerateRequest;
  port: MessagePort;
  /** Tokens of the whole answer. */
  sent: number;
}

export class ScriptedWorker {
  options: LoadOptions | null = null;
  /** The arithmetic of the model that was lost before. */
  before: object | undefined;
  private readonly isMute: boolean;
  readonly requests: GenerateRequest[] = [];
  /** The other calls, in order. */
  readonly calls: string[] = [];
  release: () => void = () => {};
  report: (progress: LoadProgress) => void = () => {};
  private readonly streams: Stream[] = [];
  private readonly held: Promise<void>;

  constructor(
    private readonly site: Site,
    private readonly scope: MessagePort,
    private readonly threadOf: () => FakeWorker,
  ) {
    this.isMute = site.isMute;
    this.held = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  get thread(): FakeWorker {
    return this.threadOf();
  }

  say(message: object): void {
    this.scope.postMessage(message);
  }

  loseGpu(error: Error = new DeviceLostError('a test'), parkedBytes = 0): void {
    this.say({ lost: toFailure(error), parkedBytes });
  }

  crash(): void {
    this.thread.dispatchEvent(Object.assign(new Event('error'), { message: 'a test' }));
  }

  /** Sends so many more tokens of the first answer that has not ended. */
  go(tokens: number): void {
    const stream = this.streams[0];
    const { options, resumed } = stream.request;
    const prompt = resumed?.promptIds.length ?? 4;
    for (let i = 0; i < tokens; i++) {
      const position = prompt + stream.sent++;
      const tbtMs = i === 0 && stream.sent === (resumed?.ids.length ?? 0) + 1 ? null : 10;
      const event: TokenEvent = {
        type: 'token',
        id: position,
        text: ` ${position}`,
        tbtMs,
        position,
        atMs: performance.timeOrigin + performance.now(),
        inFlightMs: 5,
        workerMs: null,
      };
      stream.port.postMessage([event]);
      if (stream.sent === options.maxTokens) break;
    }
    if (stream.sent === options.maxTokens) this.finish(stream, 'length');
  }

  /** Fails the first answer that has not ended. */
  fail(error: Error): void {
    this.streams.shift()?.port.postMessage([toFailure(error)]);
  }

  /** Keeps back what follows `done`. */
  holdsTimes = false;

  private finish(stream: Stream, finishReason: 'length' | 'abort'): void {
    this.streams.splice(this.streams.indexOf(stream), 1);
    const { options } = stream.request;
    const metrics = { ttftMs: 7, tbtMs: { perToken: [] }, tokenizeMs: 1 } as unknown as RunMetrics;
    const usage = { promptTokens: 4, cachedTokens: 0, completionTokens: stream.sent, reasoningTokens: 0 };
    stream.port.postMessage([{ type: 'done', text: '', finishReason, seed: options.seed, usage, metrics }]);
    const gpuMs = { perToken: [1] };
    if (options.gpuTimes && !this.holdsTimes) stream.port.postMessage([{ type: 'gpuTimes', gpuMs }]);
  }

  readonly api = {
    ping: async () => {
      if (this.isMute) await this.held;
      return 'pong';
    },
    holdLock: async () => {
      await this.site.lock?.held;
      return this.site.lock?.name ?? null;
    },
    load: (
      _: unknown,
      options: LoadOptions,
      report: Remote<(p: LoadProgress) => void>,
      hash: Remote<(port: MessagePort, task: 'hash') => boolean>,
      before?: object,
    ) => {
      this.before = before;
      return this.load(options, report, hash);
    },
    cancelLoad: () => void this.calls.push('cancelLoad'),
    goOnAlone: () => void this.calls.push('goOnAlone'),
    hasGpu: () => this.site.hasGpu,
    hash: () => void this.calls.push('hash'),
    pause: (isPaused: boolean) => void this.calls.push(`pause ${isPaused}`),
    generate: (request: GenerateRequest, port: MessagePort) => this.generate(request, port),
    tokenize: async () => {
      this.calls.push('tokenize');
      if (this.site.holds) await this.held;
      const failure = this.site.tokenizeFailures.shift();
      return failure ? toFailure(failure) : { ids: Uint32Array.of(1, 2, 3) };
    },
    embed: async (_: unknown, port: MessagePort) => {
      this.calls.push('embed');
      if (this.site.holds) await this.held;
      port.postMessage([{ vectors: [Float32Array.of(1)], promptTokens: 1 }]);
    },
    tune: () => void this.calls.push('tune'),
    roofline: () => void this.calls.push('roofline'),
    listCachedModels: () => {
      this.calls.push('listCachedModels');
      return [];
    },
    unload: () => {},
  };

  private async load(
    options: LoadOptions,
    report: Remote<(progress: LoadProgress) => void>,
    hash: Remote<(port: MessagePort, task: 'hash') => boolean>,
  ): Promise<LoadResult> {
    this.options = options;
    this.report = report as unknown as ScriptedWorker['report'];
    const backend = options.backend !== 'cpu' && this.site.hasGpu ? 'webgpu' : 'cpu';
    if (this.site.hashes) {
      const { port1, port2 } = new MessageChannel();
      this.calls.push(`hashes ${await hash(transfer(port2, [port2]), 'hash')}`);
      port1.close();
    }
    if (this.site.holds) await this.held;
    const failure = this.site.failures.shift();
    if (failure) return toFailure(failure);
    if (options.backend === 'webgpu' && backend === 'cpu') return toFailure(new WebGpuUnavailableError('no adapter'));
    const { contextLength = 1000 } = options;
    const model = { parameters: this.site.parameters };
    const arithmetic = { cause: 'raced' };
    const info = { backend, contextLength, model, embeddings: {}, warnings: [], attention: {}, step: {}, arithmetic };
    return { info: info as unknown as EngineInfo };
  }

  private generate(request: GenerateRequest, port: MessagePort): void {
    this.requests.push(request);
    const { options, resumed } = request;
    const stream: Stream = { request, port, sent: resumed?.ids.length ?? 0 };
    port.onmessage = () => this.streams.includes(stream) && this.finish(stream, 'abort');
    this.streams.push(stream);
    const promptIds = resumed?.promptIds ?? [0, 1, 2, 3];
    port.postMessage([{ type: 'start', choice: 0, promptIds, cachedTokens: 0 }]);
    port.postMessage([{ type: 'prefill', done: 0, total: 4 }]);
    const left = (options.maxTokens ?? Number.POSITIVE_INFINITY) - stream.sent;
    if (this.site.tokens > 0) this.go(Math.min(this.site.tokens, left));
  }
}
