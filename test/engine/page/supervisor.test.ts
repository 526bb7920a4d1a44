// Losses of the worker and of its GPU, at every moment: the same requests go on in another worker, so often and no
// more, and every wait ends.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Engine, type EngineEvent, type EngineLoadOptions, type Health } from '../../../src/engine/engine';
import { Site } from '../scripted_worker';
import { read } from '../stepped_backend';

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
  await turn();
  engine = await loading;
  engine.onHealth((health) => told.push(health));
  return engine;
}

const states = () => told.map(({ state }) => state).filter((state, i, all) => state !== all[i - 1]);
const types = (events: readonly EngineEvent[]) => events.map(({ type }) => type);
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
    expect(answer.heard[5]).toMatchObject({ backend: 'webgpu', message: expect.stringMatching(/loaded again/) });
    expect(states()).toEqual(['recovering', 'well']);
  });
});
