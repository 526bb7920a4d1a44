// Losses of the worker and of its GPU, at every moment: the same requests go on in another worker, so often and no
// more, and every wait ends.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  Engine,
  type EngineEvent,
  type EngineLoadOptions,
  type EngineLoadProgress,
  type Health,
  type LoadProgress,
  listCachedModels,
} from '../../../../src/engine/engine';
import { DeviceLostError, GpuMemoryError, ModelFetchError, UnsupportedModelError } from '../../../../src/errors';
import { Site } from '../../doubles/scripted_worker';
import { read } from '../../doubles/stepped_backend';

const PROGRESS: LoadProgress = {
  stage: 'open',
  loadedBytes: 0,
  totalBytes: 0,
  bytesPerSecond: null,
  secondsLeft: null,
};

let site: Site;
let engine: Engine | null;
/** The states that the engine has told, each once. */
let told: Health[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  site = new Site();
  engine = null;
  told = [];
});

afterEach(async () => {
  const unloaded = engine?.unload();
  await pass(1000);
  await unloaded;
  for (const { thread } of site.workers) thread.terminate();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Lets all messages arrive that are under way, and their answers. */
async function turn(): Promise<void> {
  for (let i = 0; i < 12; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Time passes, and every worker has time to answer its beats. */
async function pass(ms: number): Promise<void> {
  await turn();
  for (let left = ms; left > 0; left -= 500) {
    vi.advanceTimersByTime(Math.min(left, 500));
    await turn();
  }
}

async function open(options: EngineLoadOptions = {}): Promise<Engine> {
  const loading = Engine.load('https://example.org/model.gguf', options);
  loading.catch(() => {}); // awaited below
  await turn();
  engine = await loading;
  engine.onHealth((health) => told.push(health));
  return engine;
}

const states = () => told.map(({ state }) => state).filter((state, i, all) => state !== all[i - 1]);
const types = (events: readonly EngineEvent[]) => events.map(({ type }) => type);
const last = <T>(list: readonly T[]) => list[list.length - 1];
const ids = (events: readonly EngineEvent[]) => events.flatMap((event) => (event.type === 'token' ? [event.id] : []));

describe('an answer', () => {
  test('goes on after the loss of its GPU, in a new worker, with the same seed and ids', async () => {
    await open();
    const answer = read(engine!.complete('a', { maxTokens: 5, seed: 9, temperature: 0 }));
    await turn();
    site.workers[0].go(2);
    await turn();
    site.workers[0].loseGpu();
    await turn();
    expect(site.workers[0].thread.isTerminated).toBe(true);
    site.workers[1].go(3);
    await turn();
    expect(types(answer.heard)).toEqual([
      ...['start', 'prefill', 'token', 'token', 'interrupted', 'recovered', 'token', 'token', 'token', 'done'],
    ]);
    expect(ids(answer.heard)).toEqual([4, 5, 6, 7, 8]);
    const resumed = { promptIds: [0, 1, 2, 3], ids: [4, 5] };
    expect(site.workers[1].requests).toEqual([
      { input: { prompt: 'a' }, options: { maxTokens: 5, seed: 9, temperature: 0 }, resumed },
    ]);
    expect(answer.heard[4]).toMatchObject({ code: 'device-lost', message: 'The GPU device was lost (a test).' });
    expect(answer.heard[5]).toMatchObject({
      backend: 'webgpu',
      message: 'The GPU device was lost. The model was loaded again.', // without the browser's own words
    });
    expect(states()).toEqual(['recovering', 'well']);
    expect(site.workers.map(({ before }) => before)).toEqual([undefined, engine!.info.arithmetic]); // no second race
  });

  test('has the figures of its reader: the pause is a gap, and the first token that of the first worker', async () => {
    await open();
    const now = () => performance.timeOrigin + performance.now();
    const before = now();
    const answer = read(engine!.complete('a', { maxTokens: 4, gpuTimes: true }));
    await turn();
    const asked = now();
    site.workers[0].go(2);
    await turn();
    site.holds = true;
    site.workers[0].loseGpu();
    await turn();
    await new Promise((resolve) => setImmediate(resolve));
    site.workers[1].release();
    await turn();
    site.workers[1].go(2);
    await turn();
    const [done, times] = answer.heard.slice(-2);
    if (done.type !== 'done') throw new Error(done.type);
    const { tbtMs, ttftMs } = done.metrics;
    const atMs = answer.heard.flatMap((event) => (event.type === 'token' ? [event.atMs] : []));
    expect(tbtMs.perToken).toEqual([10, atMs[2] - atMs[1], 10]);
    expect(ttftMs).toBeGreaterThanOrEqual(Math.max(0, atMs[0] - asked));
    expect(ttftMs).toBeLessThanOrEqual(atMs[0] - before);
    expect(times).toEqual({ type: 'gpuTimes', gpuMs: null });
    expect(engine!.metrics).toMatchObject({ tbtMs, gpuMs: null });
  });

  test('keeps its constraint, which is compiled once', async () => {
    const compile = vi.spyOn(await import('../../../../src/grammar/constraint'), 'compileConstraint');
    await open();
    const constraint = { kind: 'choice', texts: ['a', 'b'] } as const;
    const answer = read(engine!.complete('a', { maxTokens: 2, constraint }));
    await vi.waitUntil(() => site.workers[0].requests.length === 1);
    site.workers[0].go(1);
    await turn();
    site.workers[0].loseGpu();
    await turn();
    const [first] = site.workers[0].requests;
    const [second] = site.workers[1].requests;
    expect(first.constraint?.automaton.nStates).toBeGreaterThan(1);
    expect(first.options).not.toHaveProperty('constraint');
    expect(second).toMatchObject({ constraint: first.constraint, resumed: { promptIds: [0, 1, 2, 3], ids: [4] } });
    expect(compile).toHaveBeenCalledTimes(1);
    compile.mockRestore();
    site.workers[1].go(1);
    await turn();
    expect(types(answer.heard).at(-1)).toBe('done');
  });

  test('begins anew without ids if the GPU goes in its prompt, and from nothing if it goes before', async () => {
    await open();
    const answer = read(engine!.complete('a', { maxTokens: 1 }));
    site.workers[0].loseGpu(); // before the request arrives
    await turn();
    expect(site.workers[1].requests).toEqual([{ input: { prompt: 'a' }, options: expect.anything() }]);
    site.workers[1].loseGpu();
    await turn();
    expect(site.workers[2].requests[0].resumed).toEqual({ promptIds: [0, 1, 2, 3], ids: [] });
    site.workers[2].go(1);
    await turn();
    expect(types(answer.heard).filter((type) => type !== 'prefill')).toEqual([
      ...['interrupted', 'recovered', 'start', 'interrupted', 'recovered', 'token', 'done'],
    ]);
  });

  test('that lost its GPU by an error of its own goes on, too', async () => {
    await open();
    const answer = read(engine!.complete('a', { maxTokens: 2 }));
    await turn();
    site.workers[0].fail(new DeviceLostError('a readback'));
    await turn();
    site.workers[1].go(2);
    await turn();
    expect(ids(answer.heard)).toEqual([4, 5]);
    const failing = read(engine!.complete('a'));
    await turn();
    site.workers[1].fail(new GpuMemoryError('A text', 10, 5, 'Shorten it.'));
    await expect(failing.whole).rejects.toMatchObject({ code: 'gpu-memory' }); // and the GPU is there
    expect(engine!.health.state).toBe('well');
  });

  test('with all tokens waits for no recovery to end', async () => {
    await open();
    const answer = read(engine!.complete('a', { maxTokens: 1, gpuTimes: true }));
    await turn();
    site.workers[0].holdsTimes = true;
    site.workers[0].go(1);
    await turn();
    site.holds = true;
    site.workers[0].loseGpu();
    expect((await answer.whole).at(-1)).toEqual({ type: 'gpuTimes', gpuMs: null });
    expect(engine!.health.state).toBe('recovering');
  });

  test('is one of three, and the second is the one that goes on', async () => {
    await open();
    const answer = read(engine!.complete('a', { maxTokens: 2, n: 3, seed: 5 }));
    await turn();
    site.workers[0].go(2);
    await turn();
    site.workers[0].go(1);
    await turn();
    site.workers[0].crash();
    await pass(100);
    site.workers[1].go(1);
    await turn();
    site.workers[1].go(2);
    const events = await answer.whole;
    expect(types(events).filter((type) => type !== 'prefill' && type !== 'token')).toEqual([
      ...['start', 'done', 'start', 'interrupted', 'recovered', 'done', 'start', 'done'],
    ]);
    expect(events.flatMap((event) => (event.type === 'done' ? [event.seed] : []))).toEqual([5, 6, 7]);
    expect(ids(events)).toEqual([4, 5, 4, 5, 4, 5]);
  });

  test('and the one that waits behind it go on in their order', async () => {
    await open();
    const both = ['a', 'b'].map((prompt) => read(engine!.complete(prompt, { maxTokens: 1 })));
    await turn();
    site.workers[0].loseGpu();
    await turn();
    expect(site.workers[1].requests.map(({ input }) => input)).toEqual([{ prompt: 'a' }, { prompt: 'b' }]);
    site.workers[1].go(1);
    site.workers[1].go(1);
    for (const { whole } of both) expect(last(await whole).type).toBe('done');
  });
});

describe('while the engine recovers', () => {
  beforeEach(async () => {
    await open();
    site.holds = true;
  });

  test('a new request waits', async () => {
    site.workers[0].loseGpu();
    await turn();
    const answer = read(engine!.complete('a', { maxTokens: 1 }));
    await turn();
    expect(answer.heard).toEqual([]);
    site.tokens = 1;
    site.workers[1].release();
    expect(types(await answer.whole)).toEqual(['start', 'prefill', 'token', 'done']);
  });

  test('an abort ends a request at once, with what was heard', async () => {
    const stop = new AbortController();
    const answer = read(engine!.complete('a', { signal: stop.signal, seed: 3 }));
    await turn();
    site.workers[0].go(2);
    await turn();
    site.workers[0].loseGpu();
    await turn();
    const waiting = read(engine!.complete('b', { signal: stop.signal }));
    const embedding = engine!.embed(['a'], { signal: stop.signal });
    embedding.catch(() => {});
    await turn();
    stop.abort();
    const [, interrupted, done] = (await answer.whole).slice(-3);
    expect(interrupted.type).toBe('interrupted');
    expect(done).toMatchObject({ finishReason: 'abort', seed: 3, usage: { promptTokens: 4, completionTokens: 2 } });
    expect(types(await waiting.whole)).toEqual(['done']);
    await expect(embedding).rejects.toMatchObject({ name: 'AbortError' });
    expect(engine!.health.state).toBe('recovering');
  });

  test('an abort that meets the loss ends the answer, too', async () => {
    const stop = new AbortController();
    const answer = read(engine!.complete('a', { signal: stop.signal }));
    await turn();
    site.workers[0].thread.hang();
    stop.abort();
    site.workers[0].crash();
    await pass(100);
    expect(last(await answer.whole)).toMatchObject({ type: 'done', finishReason: 'abort' });
  });

  test('a caller who leaves waits for nothing', async () => {
    const answer = engine!.complete('a');
    await answer.next();
    site.workers[0].loseGpu();
    while ((await answer.next()).value?.type !== 'interrupted');
    const next = answer.next();
    await turn();
    expect(await answer.return()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test('an unload ends everything, tells no listener, and leaves no worker', async () => {
    const answer = read(engine!.complete('a'));
    await turn();
    site.workers[0].loseGpu();
    await turn();
    const count = engine!.countTokens('a');
    const ended = expect(count).rejects.toThrow('The engine was unloaded');
    const failed = expect(answer.whole).rejects.toThrow('The engine was unloaded');
    const before = [...told];
    const unloaded = engine!.unload();
    await pass(1000);
    await unloaded;
    await ended;
    await failed;
    await expect(read(engine!.complete('a')).whole).rejects.toThrow('The engine was unloaded');
    await pass(1000);
    expect([engine!.lost, engine!.health.state, told]).toEqual([null, 'recovering', before]);
    expect([site.live, vi.getTimerCount()]).toEqual([[], 0]);
  });

  test('another loss makes one longer pause', async () => {
    let now = 1000;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const answer = read(engine!.complete('a', { maxTokens: 1 }));
    await turn();
    site.workers[0].loseGpu();
    await turn();
    now = 3000;
    site.newest.crash();
    await pass(100);
    now = 5000;
    site.newest.release();
    await turn();
    vi.restoreAllMocks();
    expect(types(answer.heard)).toEqual(['start', 'prefill', 'interrupted', 'recovered', 'prefill']);
    expect(answer.heard[3]).toMatchObject({ pauseMs: 4000, message: expect.stringMatching(/worker ended/) });
  });

  test('texts, ids and numbers of ids come from the new worker', async () => {
    const calls = Promise.all([engine!.embed(['a']), engine!.tokenize('a'), engine!.countTokens('a')]);
    await turn();
    expect(site.workers[0].calls).toEqual(['embed', 'tokenize', 'tokenize']);
    site.workers[0].loseGpu();
    await turn();
    site.workers[1].release();
    expect(await calls).toEqual([{ vectors: [Float32Array.of(1)], promptTokens: 1 }, [1, 2, 3], 3]);
    expect(site.workers[1].calls.sort()).toEqual(['embed', 'tokenize', 'tokenize']);
  });

  test('a tuning that may have caused the loss is not repeated', async () => {
    const calls = [engine!.tune(), engine!.roofline()];
    const ends = Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: 'device-lost' })));
    await turn();
    site.workers[0].loseGpu();
    await ends;
    site.workers[1].release();
    await turn();
    expect([engine!.health.state, site.workers[1].calls]).toEqual(['well', []]);
  });

  test('the progress of the load is told, and ends a wait for another tab', async () => {
    site.workers[0].loseGpu();
    await turn();
    site.workers[1].report({ ...PROGRESS, loadedBytes: 7 });
    await turn();
    expect(last(told)).toMatchObject({ state: 'recovering', loss: 1, progress: { loadedBytes: 7 } });
  });
});

describe('losses', () => {
  const answers = async () => {
    const answer = read(engine!.complete('a', { maxTokens: 1 }));
    await turn();
    site.newest.go(1);
    await turn();
    return last(answer.heard)?.type;
  };

  test('of the GPU recover three times in ten minutes; then the CPU answers until the first is over', async () => {
    await open();
    const firstAt = Date.now();
    for (const loss of [1, 2, 3]) {
      site.newest.loseGpu();
      await pass(60_000);
      expect([await answers(), engine!.health.state, engine!.info.backend]).toEqual(['done', 'well', 'webgpu']);
      expect(told.filter(({ state }) => state === 'recovering').at(-1)).toMatchObject({ loss });
    }
    site.newest.loseGpu();
    await turn();
    expect([engine!.info.backend, await answers()]).toEqual(['cpu', 'done']);
    expect(engine!.health).toMatchObject({
      state: 'without-gpu',
      nextTryAt: firstAt + 600_000,
      cause: { code: 'webgpu-unavailable', message: expect.stringMatching(/lost 4 times in ten minutes.*on the CPU/) },
    });
    await pass(420_000);
    expect([engine!.health.state, engine!.info.backend, await answers()]).toEqual(['well', 'webgpu', 'done']);
    expect(site.live.length).toBe(1);
  });

  test('of the GPU that the CPU cannot replace end the engine, with the number and the remedy', async () => {
    await open({ backend: 'webgpu' });
    for (let loss = 1; loss <= 3; loss++) {
      site.newest.loseGpu();
      await turn();
    }
    const answer = read(engine!.complete('a'));
    await turn();
    site.newest.go(2);
    await turn();
    site.newest.loseGpu();
    await turn();
    await expect(answer.whole).rejects.toBe(engine!.lost);
    expect(types(answer.heard)).toEqual(['start', 'prefill', 'token', 'token', 'interrupted']);
    expect(engine!.lost).toMatchObject({
      code: 'device-lost',
      canRetry: true,
      message: expect.stringMatching(/lost \(a test\)\. That was loss 4 in ten minutes.*backend cpu/),
    });
    expect(await engine!.whenLost).toBe(engine!.lost);
    expect(engine!.health).toEqual({ state: 'lost', cause: engine!.lost });
    await expect(engine!.tokenize('a')).rejects.toBe(engine!.lost);
    expect(site.live).toEqual([]);
  });

  test('of the worker end at the fourth, because the CPU does not help', async () => {
    await open();
    for (let loss = 1; loss <= 4; loss++) {
      site.newest.crash();
      await pass(100);
    }
    expect(engine!.lost).toMatchObject({
      code: 'worker',
      message: expect.stringMatching(/failed with "a test".*loss 4/),
    });
  });

  test('of ten minutes ago count no more', async () => {
    await open();
    for (let loss = 1; loss <= 6; loss++) {
      site.newest.crash();
      await pass(200_001);
    }
    expect(engine!.health.state).toBe('well');
  });

  test('by short memory cost the conversations beside the cache before the context', async () => {
    await open();
    const short = () => new GpuMemoryError('The GPU work', 100, null, 'Close other pages.');
    site.newest.loseGpu(short(), 5000);
    await turn();
    expect(site.newest.options?.contextLength).toBeUndefined();
    expect(site.newest.options).toMatchObject({ kvBudgetBytes: 0 });
    expect(engine!.info.warnings.map(({ code }) => code)).toEqual(['chats-not-kept']);
    site.newest.loseGpu(short());
    await turn();
    expect(site.newest.options).toMatchObject({ kvBudgetBytes: 0, contextLength: 500 });
    expect(engine!.info.warnings.map(({ code }) => code)).toEqual(['chats-not-kept', 'context-shortened']);
  });

  test('by short memory halve the context, once for each', async () => {
    await open();
    const stop = new AbortController();
    const answer = read(engine!.complete('a', { signal: stop.signal }));
    await turn();
    const short = () => new GpuMemoryError('The GPU work', 100, null, 'Close other pages.');
    site.newest.loseGpu(short());
    await turn();
    expect(site.newest.options).toMatchObject({ contextLength: 500 });
    expect(engine!.info).toMatchObject({
      contextLength: 500,
      warnings: [{ code: 'context-shortened', message: expect.stringMatching(/from 1000 to 500 tokens/) }],
    });
    site.newest.loseGpu(short());
    await expect(answer.whole).rejects.toMatchObject({
      code: 'gpu-memory',
      message: expect.stringMatching(/Half of the context of 500 tokens.*less than the 260/),
    });
    expect(engine!.health.state).toBe('lost');
  });

  test('while the model loads begin the load again, and the model says so', async () => {
    site.holds = true;
    const stages: string[] = [];
    const loading = Engine.load('https://example.org/model.gguf', {
      cache: 'check',
      onProgress: ({ stage }) => void stages.push(stage),
    });
    await turn();
    site.workers[0].crash();
    await pass(100);
    site.workers[1].report({ ...PROGRESS, stage: 'weights' });
    site.failures = [new DeviceLostError('a test')];
    await turn();
    site.workers[1].release();
    await turn();
    site.workers[2].release();
    engine = await loading;
    expect(stages).toEqual(['weights']);
    expect(engine.info.warnings).toMatchObject([{ code: 'device-lost', message: expect.stringMatching(/again/) }]);
    expect(site.workers.map(({ options }) => options?.cache)).toEqual(['check', true, true]); // the version that ran
  });

  test('of a worker that ends without a word are known by its lock, which the load waits for', async () => {
    const locks = new EventTarget();
    const on = (moment: string) => new Promise<void>((resolve) => locks.addEventListener(moment, () => resolve()));
    const freed = on('freed');
    const request = (_: string, given: LockOptions | (() => void), callback?: (lock: null) => boolean) =>
      typeof given === 'function' ? freed.then(given) : Promise.resolve(callback?.(null));
    vi.stubGlobal('navigator', { locks: { request } });
    Object.assign(site, { lock: { name: 'a', held: on('held') }, holds: true });
    const loading = Engine.load('https://example.org/model.gguf');
    await turn();
    expect(site.workers[0].options).toBeNull();
    locks.dispatchEvent(new Event('held'));
    await turn();
    expect(site.workers[0].options).not.toBeNull();
    Object.assign(site, { lock: null, holds: false });
    site.workers[0].thread.hang();
    locks.dispatchEvent(new Event('freed'));
    await turn();
    engine = await loading;
    expect(engine.info.warnings).toMatchObject([{ code: 'worker' }]);
    expect(site.workers).toHaveLength(2);
  });

  test('locks that hang delay a load by a second', async () => {
    Object.assign(site, { lock: { name: 'a', held: new Promise(() => {}) } });
    vi.stubGlobal('navigator', { locks: {} });
    const loading = Engine.load('https://example.org/model.gguf');
    await pass(1000);
    engine = await loading;
    expect(site.workers).toHaveLength(1);
  });

  test('while the model loads end in an error at the fourth', async () => {
    site.holds = true;
    const loading = Engine.load('https://example.org/model.gguf');
    loading.catch(() => {});
    for (let loss = 1; loss <= 4; loss++) {
      await turn();
      site.newest.crash();
      await pass(100);
    }
    await expect(loading).rejects.toMatchObject({ code: 'worker', message: expect.stringMatching(/loss 4/) });
    expect([site.live, vi.getTimerCount()]).toEqual([[], 0]);
  });
});

describe('a browser that grants no GPU after a loss', () => {
  test('leaves the answer to the CPU, and gets it back in mid-answer', async () => {
    await open();
    const answer = read(engine!.complete('a', { maxTokens: 6 }));
    await turn();
    site.hasGpu = false;
    site.workers[0].go(1);
    await turn();
    site.workers[0].loseGpu();
    await turn();
    const cpu = site.newest;
    cpu.go(2);
    await pass(30_000);
    expect(engine!.health).toMatchObject({ state: 'without-gpu', nextTryAt: Date.now() + 15_000 });
    expect([site.workers.length, site.live]).toEqual([4, [cpu]]); // two asked, one at a time
    site.hasGpu = true;
    site.holds = true;
    await pass(15_000);
    cpu.go(1); // the CPU answers while the model loads
    await turn();
    expect([engine!.health.state, ids(answer.heard)]).toEqual(['without-gpu', [4, 5, 6, 7]]);
    site.newest.release();
    await turn();
    expect([engine!.health, engine!.info.backend, site.live]).toEqual([{ state: 'well' }, 'webgpu', [site.newest]]);
    site.newest.go(2);
    const events = await answer.whole;
    expect(ids(events)).toEqual([4, 5, 6, 7, 8, 9]);
    const told = events.filter(({ type }) => type === 'interrupted' || type === 'recovered');
    expect(told).toMatchObject([
      { type: 'interrupted', code: 'device-lost' },
      { type: 'recovered', backend: 'cpu', message: expect.stringMatching(/two minutes.*on the CPU/) },
      { type: 'recovered', backend: 'webgpu', message: expect.stringMatching(/The GPU is back/) },
    ]);
    expect(site.newest.options?.backend).toBe('webgpu');
  });

  test('is asked less often after ten minutes, and never by a hidden page', async () => {
    const page = Object.assign(new EventTarget(), { hidden: true });
    await open();
    site.hasGpu = false;
    site.newest.loseGpu();
    await turn();
    vi.stubGlobal('document', page);
    await pass(60_000);
    expect(site.workers.length).toBe(2);
    page.hidden = false;
    await pass(540_000);
    expect(site.workers.length).toBe(2 + 36);
    await pass(120_000);
    expect(site.workers.length).toBe(2 + 36 + 2);
  });

  test('has three minutes for a model that must have one', async () => {
    await open({ backend: 'webgpu' });
    site.hasGpu = false;
    site.newest.loseGpu();
    await pass(60_000);
    expect([engine!.health.state, engine!.lost]).toEqual(['recovering', null]);
    site.hasGpu = true;
    await pass(10_000);
    expect(engine!.health.state).toBe('well');
    site.hasGpu = false;
    site.newest.loseGpu();
    await pass(200_000);
    expect(engine!.lost).toMatchObject({ code: 'webgpu-unavailable', message: expect.stringMatching(/loss 2 in ten/) });
  });

  test('has them, too, for a model too large for the CPU', async () => {
    await open();
    site.failures = [new UnsupportedModelError('Too large for the CPU.')];
    site.newest.loseGpu();
    await pass(9000);
    expect(engine!.health.state).toBe('recovering');
    await pass(2000);
    expect(engine!.health.state).toBe('well');
  });
});

describe('a recovery that fails', () => {
  test('for a reason that may pass is tried again after two and eight seconds', async () => {
    await open();
    const failure = () => new ModelFetchError('https://example.org', null, 'No network.');
    site.failures = [failure(), failure(), failure()];
    site.newest.crash();
    await pass(2500);
    expect(site.workers.length).toBe(3);
    await pass(8000);
    expect(engine!.lost).toMatchObject({ code: 'model-fetch', message: 'No network.' });
    expect([site.workers.length, site.live]).toEqual([4, []]);
  });

  test('because memory is short is tried once more, with half of the context', async () => {
    await open();
    const refused = () => new GpuMemoryError('The weights', 100, null, 'Close other pages.');
    site.failures = [refused()];
    site.newest.crash();
    await pass(2500);
    expect([engine!.health.state, site.workers.length, engine!.info.contextLength]).toEqual(['well', 3, 500]);
    site.failures = [refused(), refused(), refused()];
    site.newest.loseGpu();
    await pass(12_000);
    expect([engine!.lost?.code, site.workers.length, site.live]).toEqual(['gpu-memory', 4, []]); // 250 are too few
  });

  test('because no worker starts is tried again', async () => {
    await open();
    site.isMute = true;
    site.newest.crash();
    await pass(15_500);
    expect(engine!.health.state).toBe('recovering');
    site.isMute = false;
    await pass(2500);
    expect(engine!.health.state).toBe('well');
  });

  test('and a first load that fails is not tried again', async () => {
    site.failures = [new ModelFetchError('https://example.org', null, 'No network.')];
    await expect(open()).rejects.toThrow('No network.');
    expect([site.workers.length, site.live]).toEqual([1, []]);
  });
});

describe('a worker that is silent', () => {
  test('while idle is suspect within two seconds; another that answers shows that it hangs, and takes over', async () => {
    await open();
    site.workers[0].thread.hang();
    await pass(2000);
    expect([engine!.health.state, site.workers.length, site.live.length]).toEqual(['well', 2, 1]);
    expect(told[0]).toMatchObject({ cause: { code: 'worker', message: expect.stringMatching(/no answer for 1.5 s/) } });
  });

  test('in mid-answer is the same, and a stop waits for nothing', async () => {
    await open();
    const stop = new AbortController();
    const stopped = read(engine!.complete('b', { signal: stop.signal }));
    const answer = read(engine!.complete('a', { maxTokens: 2 }));
    await turn();
    site.workers[0].thread.hang();
    stop.abort();
    await pass(500);
    expect(last(await stopped.whole)).toMatchObject({ finishReason: 'abort' });
    site.tokens = 2;
    await pass(1500);
    expect(types(await answer.whole).slice(-6)).toEqual([
      ...['interrupted', 'recovered', 'prefill', 'token', 'token', 'done'],
    ]);
  });

  test('but speaks before the other is alive, and the other goes', async () => {
    await open();
    site.workers[0].thread.hang();
    site.isMute = true;
    await pass(2000);
    expect(site.live.length).toBe(2);
    site.workers[0].thread.wake();
    site.workers[0].say({});
    await turn();
    site.workers[1].release();
    await pass(1000);
    expect([engine!.health.state, told, site.live]).toEqual(['well', [], [site.workers[0]]]);
  });

  test('because it works has the patience that it asked for, until it is done', async () => {
    await open();
    site.workers[0].say({ patienceMs: 20_000 });
    await turn();
    site.workers[0].thread.hang();
    await pass(20_000);
    expect(site.workers.length).toBe(1);
    site.workers[0].thread.wake();
    site.workers[0].say({ patienceMs: 0 });
    await turn();
    site.workers[0].thread.hang();
    await pass(2000);
    expect([site.workers.length, engine!.health.state]).toEqual([2, 'well']);
  });

  test('because the CPU computes a token of a large model has time for it', async () => {
    site.parameters = 1e9;
    await open({ backend: 'cpu' });
    site.workers[0].thread.hang();
    await pass(20_000);
    expect(site.workers.length).toBe(1);
    await pass(2000);
    expect(site.workers.length).toBe(2);
  });

  test('while it loads has thirty seconds', async () => {
    site.holds = true;
    const loading = Engine.load('https://example.org/model.gguf');
    await turn();
    site.workers[0].thread.hang();
    await pass(30_000);
    expect(site.workers.length).toBe(1);
    site.holds = false;
    await pass(1000);
    engine = await loading;
    expect(site.live).toEqual([site.workers[1]]);
  });

  test('is dead after a minute where no other starts', async () => {
    await open();
    site.workers[0].thread.hang();
    site.isMute = true;
    await pass(61_000);
    expect(engine!.health).toMatchObject({ state: 'recovering', cause: { message: expect.stringMatching(/60 s/) } });
  });

  test('is not asked while the page is hidden and nothing waits', async () => {
    await open();
    vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: true }));
    site.workers[0].thread.hang();
    await pass(10_000);
    expect(site.workers.length).toBe(1);
    const count = engine!.countTokens('a');
    await pass(2500);
    expect(await count).toBe(3);
  });
});

describe('an unload leaves no worker within a second, and starts none', () => {
  const lose = async () => {
    site.newest.loseGpu();
    await turn();
  };
  const onCpu = async () => {
    site.hasGpu = false;
    await lose();
    site.hasGpu = true;
  };
  const set = (change: Partial<Site>) => async () => void Object.assign(site, change);
  const states: [string, () => Promise<void>][] = [
    ['while a new worker starts', set({ isMute: true }), lose],
    ['while the model loads again', set({ holds: true }), lose],
    ['while a worker that loads hangs', set({ holds: true }), lose, hang],
    ['beside a worker that hashes', set({ hashes: true, holds: true }), lose],
    ['while another worker asks for a GPU', onCpu, set({ isMute: true }), () => pass(15_000)],
    ['while the model loads on a GPU that is back', onCpu, set({ holds: true }), () => pass(15_000)],
    ['while a worker hangs', hang],
    ['while another worker shows that one hangs', set({ isMute: true }), hang, () => pass(2000)],
    [
      'while another worker shows that one hangs that loads',
      set({ holds: true }),
      lose,
      set({ isMute: true }),
      hang,
      () => pass(31_000),
    ],
  ].map(([name, ...steps]) => [
    name as string,
    async () => {
      for (const step of steps as (() => Promise<void>)[]) await step();
    },
  ]);

  async function hang() {
    site.newest.thread.hang();
  }

  test.each(states)('%s', async (_, reach) => {
    await open();
    await reach();
    const started = site.workers.length;
    let live: number | null = null;
    void engine!.unload().then(() => {
      live = site.live.length;
    });
    await pass(1000);
    expect(live).toBe(0);
    await pass(20_000);
    expect([site.workers.length, vi.getTimerCount()]).toEqual([started, 0]);
  });
});

describe('beside the model', () => {
  test('the list of models waits for a canceled load, which may still write what has arrived', async () => {
    site.holds = true;
    const stop = new AbortController();
    const loading = Engine.load('https://example.org/model.gguf', { signal: stop.signal });
    loading.catch(() => {}); // awaited below
    await turn();
    stop.abort();
    await expect(loading).rejects.toThrow(/abort/);
    const listing = listCachedModels();
    await turn();
    expect(site.workers.map(({ calls }) => calls)).toEqual([['cancelLoad']]);
    site.workers[0].release();
    expect(await listing).toEqual([]);
    expect(site.workers.map(({ calls }) => calls)).toEqual([['cancelLoad'], ['listCachedModels']]);
    expect(site.live).toEqual([]);
  });

  test('the worker that hashes may die: the load begins again and hashes itself', async () => {
    site.hashes = true;
    site.holds = true;
    const loading = Engine.load('https://example.org/model.gguf');
    await turn();
    expect(site.workers.map(({ calls }) => calls)).toEqual([['hashes true'], ['hash']]);
    site.workers[1].crash();
    await pass(100);
    site.newest.release();
    engine = await loading;
    expect([site.newest.calls, engine.info.warnings]).toEqual([['hashes false'], []]);
    expect(site.live).toEqual([site.newest]);
  });

  test('a wait for another tab can be ended', async () => {
    site.holds = true;
    const heard: EngineLoadProgress[] = [];
    const loading = Engine.load('https://example.org/model.gguf', {
      onProgress: (progress) => void heard.push(progress),
    });
    await turn();
    site.workers[0].report(PROGRESS);
    site.workers[0].report({ ...PROGRESS, waitsMs: 20 });
    await turn();
    expect(heard.map((progress) => 'goOnAlone' in progress)).toEqual([false, true]);
    heard[1].goOnAlone?.();
    await turn();
    site.workers[0].release();
    engine = await loading;
    expect(site.workers[0].calls).toEqual(['goOnAlone']);
  });

  test('a phone that hides the page pauses the worker, and no beat expects it', async () => {
    const page = Object.assign(new EventTarget(), { hidden: false });
    vi.stubGlobal('document', page);
    vi.stubGlobal('navigator', { userAgentData: { mobile: true } });
    await open();
    const show = async (isShown: boolean) => {
      page.hidden = !isShown;
      page.dispatchEvent(new Event('visibilitychange'));
      await turn();
    };
    void read(engine!.complete('a'));
    await show(false);
    site.workers[0].thread.hang();
    await pass(10_000);
    site.workers[0].thread.wake();
    await show(true);
    expect([site.workers.length, site.workers[0].calls]).toEqual([1, ['pause true', 'pause false']]);
    await engine!.unload();
    await show(false);
    expect(site.workers[0].calls.length).toBe(2);
  });

  test('a phone that has hidden the page during the load pauses the worker, too', async () => {
    const page = Object.assign(new EventTarget(), { hidden: true });
    vi.stubGlobal('document', page);
    vi.stubGlobal('navigator', { userAgentData: { mobile: true } });
    await open();
    expect(site.workers[0].calls).toEqual(['pause true']);
    page.hidden = false;
    page.dispatchEvent(new Event('visibilitychange'));
    await turn();
    expect(site.workers[0].calls).toEqual(['pause true', 'pause false']);
  });

  test('nothing is left after an unload: no port, timer or worker', async () => {
    const ports = new Set<MessagePort>();
    const Channel = MessageChannel;
    vi.stubGlobal('MessageChannel', function counted() {
      const channel = new Channel();
      ports.add(channel.port1);
      channel.port1.addEventListener('close', () => ports.delete(channel.port1));
      return channel;
    });
    await open();
    site.tokens = 2;
    for (const lose of [true, true, false]) {
      await read(engine!.complete('a', { maxTokens: 2 })).whole;
      await engine!.embed(['a']);
      if (lose) site.newest.loseGpu();
      await turn();
    }
    const unloaded = engine!.unload();
    await pass(500);
    await unloaded;
    await turn();
    expect([ports.size, vi.getTimerCount(), site.live]).toEqual([0, 0, []]);
  });
});
