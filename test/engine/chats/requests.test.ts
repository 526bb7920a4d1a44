// Requests of the real page side to the real worker with a scripted model: the effects of stops.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Engine } from '../../../src/engine/engine';
import type { LoadedModel } from '../../../src/engine/load/load';
import { InvalidRequestError } from '../../../src/errors';
import { engineWorker, type FakeWorker, stubWorkers } from '../doubles/fake_worker';
import { numberSession } from '../doubles/loop_session';
import { done, INFO, read, SteppedBackend, until } from '../doubles/stepped_backend';

/** Loads the next model of the worker. */
let load: (signal: AbortSignal) => Promise<LoadedModel>;
vi.mock('../../../src/engine/load/load', () => ({
  loadModel: (_place: unknown, _options: unknown, _tell: unknown, signal: AbortSignal) => load(signal),
}));

let workers: FakeWorker[];
let backend: SteppedBackend;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }); // no beats of a real clock
  workers = stubWorkers(engineWorker);
  backend = new SteppedBackend();
  load = async () => ({ session: numberSession(backend), info: INFO });
});

afterEach(() => {
  for (const worker of workers) if (!worker.isTerminated) worker.terminate();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Lets messages between the page and the worker arrive, which share this process: each takes a turn of its loop. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

function loadEngine(): Promise<Engine> {
  return Engine.load('https://example.org/model.gguf');
}

describe('a stop', () => {
  test('ends a queued request while the one ahead waits for its GPU, and the next one runs', async () => {
    const engine = await loadEngine();
    const ahead = read(engine.complete('1 2 3', { maxTokens: 3 }));
    backend.go(1);
    await until(() => ahead.tokens() === 1);
    const stop = new AbortController();
    const queued = read(engine.complete('4 5', { signal: stop.signal }));
    const last = read(engine.complete('6 7', { maxTokens: 2 }));
    await turns(10); // the worker has the requests
    stop.abort();
    expect(done(await queued.whole)).toMatchObject({ finishReason: 'abort', usage: { completionTokens: 0 } });
    await turns(10); // and the stop, which the page does not wait for
    expect(ahead.tokens()).toBe(1);
    backend.go(10);
    expect(done(await ahead.whole).finishReason).toBe('length');
    expect(done(await last.whole).finishReason).toBe('length');
    // The queued request never reached the model.
    expect(backend.prefills.map(({ length }) => length)).toEqual([3, 2]);
  });

  test('takes effect at the next token, with all figures of the worker', async () => {
    const engine = await loadEngine();
    const stop = new AbortController();
    const answer = read(engine.complete('1 2 3', { signal: stop.signal, seed: 5 }));
    backend.go(2);
    await until(() => answer.tokens() === 2);
    stop.abort();
    backend.go(1);
    const end = done(await answer.whole);
    expect(answer.tokens()).toBe(3);
    expect(end).toMatchObject({ finishReason: 'abort', seed: 5, usage: { completionTokens: 3 } });
    expect(engine.metrics).toBe(end.metrics);
  });

  test('ends an answer whose worker does not hear it, with what the page heard', async () => {
    const engine = await loadEngine();
    const stop = new AbortController();
    const answer = read(engine.complete('1 2 3', { signal: stop.signal, seed: 5 }));
    backend.go(2);
    await until(() => answer.tokens() === 2);
    workers[0].hang();
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    stop.abort();
    vi.runAllTimers();
    const end = done(await answer.whole);
    expect(end).toMatchObject({
      finishReason: 'abort',
      seed: 5,
      usage: { promptTokens: 3, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 },
    });
    expect(end.metrics.tbtMs.perToken).toHaveLength(1);
    expect(engine.metrics).toBe(end.metrics);
  });

  test('ends a tuning at once, with the reason of the signal', async () => {
    const engine = await loadEngine();
    const stop = new AbortController();
    const ahead = read(engine.complete('1 2 3'));
    const tuning = engine.tune({ signal: stop.signal });
    stop.abort(new DOMException('enough', 'AbortError'));
    await expect(tuning).rejects.toThrow('enough');
    await expect(engine.roofline({ signal: stop.signal })).rejects.toThrow('enough');
    expect(ahead.heard).toEqual([]);
  });

  test('of a load ends it at once, and the worker a moment later', async () => {
    const stop = new AbortController();
    let heard: AbortSignal | null = null;
    load = (signal) => {
      heard = signal;
      return new Promise(() => {});
    };
    const loading = Engine.load('https://example.org/model.gguf', { signal: stop.signal });
    await until(() => heard !== null);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    stop.abort(new DOMException('enough', 'AbortError'));
    await expect(loading).rejects.toThrow('enough');
    await until(() => heard?.aborted === true); // so that the load can tidy its storage
    expect(workers[0].isTerminated).toBe(false);
    await vi.runAllTimersAsync();
    expect(workers[0].isTerminated).toBe(true);
  });
});

describe('the end of an answer', () => {
  /** The GPU's times of an answer, and with them its end in the worker, wait for the test. */
  function holdTimes() {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stepTimes = backend.stepTimes.bind(backend);
    backend.stepTimes = async () => {
      await held;
      return stepTimes();
    };
    return () => release();
  }

  test('is `done`, and one more event for who asks for the GPU’s times; the next request waits for both', async () => {
    const engine = await loadEngine();
    const release = holdTimes();
    const timed = read(engine.complete('1 2 3', { maxTokens: 3, gpuTimes: true }));
    const next = read(engine.complete('6 7', { maxTokens: 2 }));
    backend.go(10);
    await until(() => timed.heard.at(-1)?.type === 'done');
    expect(engine.metrics).toBe(done(timed.heard).metrics);
    expect(engine.metrics && 'gpuMs' in engine.metrics).toBe(false);
    expect([backend.prefills.length, next.heard]).toEqual([1, [{ type: 'queued', reason: 'busy' }]]);
    release();
    expect((await timed.whole).at(-1)).toMatchObject({ type: 'gpuTimes', gpuMs: { perToken: [0, 1] } });
    expect(engine.metrics).toMatchObject({ gpuMs: { perToken: [0, 1] }, prefillMs: expect.any(Number) });
    expect(done(await next.whole).finishReason).toBe('length'); // and no event after it
  });

  test('is final for who leaves at `done`; a stop ends the wait for the times', async () => {
    const engine = await loadEngine();
    holdTimes();
    backend.go(10);
    const stop = new AbortController();
    const timed = read(engine.complete('1 2 3', { maxTokens: 3, gpuTimes: true, signal: stop.signal }));
    await until(() => timed.heard.at(-1)?.type === 'done');
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    stop.abort();
    vi.runAllTimers();
    expect(done(await timed.whole).finishReason).toBe('length');
  });
});

describe('embed', () => {
  test('waits for the answer ahead, and the one behind finds no keys and values of before', async () => {
    const engine = await loadEngine();
    const ahead = read(engine.complete('1 2 3', { maxTokens: 2 }));
    const embedding = engine.embed(['7 8', '9']);
    const behind = read(engine.complete('1 2 3', { maxTokens: 1 }));
    await until(() => backend.prefills.length === 1);
    expect(backend.embedded).toEqual([]);
    backend.go(10);
    const { vectors, promptTokens } = await embedding;
    expect(vectors).toEqual([new Float32Array([7, 2]), new Float32Array([9, 1])]);
    expect(promptTokens).toBe(3);
    expect(done(await ahead.whole).finishReason).toBe('length');
    expect(done(await behind.whole).usage.cachedTokens).toBe(0);
  });

  test('ends between two texts after an abort, and the engine stays usable', async () => {
    const engine = await loadEngine();
    const stop = new AbortController();
    const embedding = engine.embed(
      Array.from({ length: 50 }, (_, i) => String(i)),
      { signal: stop.signal },
    );
    embedding.catch(() => {});
    await until(() => backend.embedded.length === 3);
    stop.abort();
    await expect(embedding).rejects.toMatchObject({ name: 'AbortError' });
    expect((await engine.embed(['5'])).vectors).toEqual([new Float32Array([5, 1])]);
    expect(backend.embedded.length).toBeLessThan(10);
    await expect(engine.embed(['5'], { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('cuts vectors to the dimensions asked for', async () => {
    const engine = await loadEngine();
    expect((await engine.embed(['7 8'], { dimensions: 1 })).vectors).toEqual([new Float32Array([7])]);
  });

  test('refuses malformed requests with the number and the remedy, before any pass', async () => {
    const engine = await loadEngine();
    const refused: [unknown, object, RegExp][] = [
      [[], {}, /1 to 2048 texts, got a list of 0/],
      ['a text', {}, /1 to 2048 texts, got string/],
      [null, {}, /got object/],
      [Array.from({ length: 2049 }, () => 'a'), {}, /got a list of 2049/],
      [['1', ''], {}, /Text 1 is empty/],
      [['1', 2], {}, /Text 1 is of type number/],
      [['1', null], {}, /Text 1 is of type object/],
      [['1'], { dimensions: 3 }, /from 1 to 2.*got 3/],
      [['1'], { dimensions: 0 }, /got 0/],
      [['1'], { dimensions: 1.5 }, /got 1.5/],
      [['1'], { dimensions: '2' }, /got 2/],
    ];
    for (const [texts, options, message] of refused) {
      const error = await engine.embed(texts as string[], options).catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ code: 'invalid-request', message: expect.stringMatching(message) });
    }
    const long = Array.from({ length: 1001 }, () => '1').join(' ');
    const overflow = { code: 'context-overflow', promptTokens: 1001, contextLength: 1000 };
    await expect(engine.embed(['1', long])).rejects.toMatchObject(overflow);
    await expect(engine.embed(['1', long])).rejects.toThrow(/Text 1 has 1001 tokens.*Split the text/);
    expect(backend.embedded).toEqual([]);
    expect((await engine.embed([long.slice(2)])).promptTokens).toBe(1000);
  });

  test('tells a vector that is no number', async () => {
    const engine = await loadEngine();
    backend.embed = async () => ({ vector: Promise.resolve(new Float32Array([1, Number.NaN])) });
    await expect(engine.embed(['1 2 3'])).rejects.toMatchObject({ code: 'not-finite', position: 2 });
  });

  test('is all that a model without a causal mask does', async () => {
    const engine = await loadEngine();
    Object.assign(backend, { vectors: { ...backend.vectors, only: true } });
    await expect(read(engine.complete('1')).whole).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringMatching(/embeds text and cannot write any/),
    });
    expect((await engine.embed(['5'])).vectors.length).toBe(1);
  });
});

test("an AbortError of the browser's own is no abort of the caller", async () => {
  const engine = await loadEngine();
  backend.decode = async () => {
    throw new DOMException('The buffer was unmapped.', 'AbortError');
  };
  const failure = await read(engine.complete('1')).whole.catch((error: unknown) => error);
  expect(failure).not.toBeInstanceOf(DOMException);
  expect(failure).toMatchObject({ code: 'internal', name: 'AbortError', canRetry: true });
});

test('errors say on both sides of the border whether trying again can work', async () => {
  const engine = await loadEngine();
  const failure = await read(engine.complete('1', { temperature: -1 })).whole.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'invalid-request', canRetry: false });
  expect(new InvalidRequestError('x').canRetry).toBe(false);
});
