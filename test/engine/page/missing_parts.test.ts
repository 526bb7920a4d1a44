// A worker that lacks a part of itself: the next one has all parts, and requests go on there.

import { afterEach, expect, test, vi } from 'vitest';
import { Engine } from '../../../src/engine/engine';
import { MissingPartError } from '../../../src/shared/part';
import { Site } from '../doubles/scripted_worker';

/** Whether the page can start a worker with all parts. */
const page = vi.hoisted(() => ({ hasWholeWorker: true }));
vi.mock('../../../src/engine/page/worker_code/own_worker', async (original) => ({
  ...(await original<object>()),
  ownWholeWorker: async () => page.hasWholeWorker,
}));

let site: Site;

afterEach(() => {
  for (const { thread } of site.workers) thread.terminate();
  vi.unstubAllGlobals();
});

test.each([
  [true, 2],
  [false, 1],
])('counting tokens without a part, where a worker with all parts is there: %s', async (hasWholeWorker, workers) => {
  page.hasWholeWorker = hasWholeWorker;
  site = new Site();
  const engine = await Engine.load('https://example.org/model.gguf');
  site.tokenizeFailures = [new MissingPartError()];
  const counted = engine.tokenize('a');
  if (hasWholeWorker) expect(await counted).toEqual([1, 2, 3]);
  else await expect(counted).rejects.toThrow('A part of the engine could not be loaded');
  expect(site.workers).toHaveLength(workers);
});

test('counting tokens that fails otherwise says so, and the worker stays', async () => {
  page.hasWholeWorker = true;
  site = new Site();
  const engine = await Engine.load('https://example.org/model.gguf');
  site.tokenizeFailures = [new Error('a test')];
  await expect(engine.tokenize('a')).rejects.toThrow('a test');
  expect(await engine.tokenize('a')).toEqual([1, 2, 3]);
  expect(site.workers).toHaveLength(1);
});
