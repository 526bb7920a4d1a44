// The page's side of storage: what is told of waits, and the request to keep what is kept.

import { afterEach, expect, test, vi } from 'vitest';
import { LoadTracker } from '../../src/engine/load/load_tracker';
import { askToKeep } from '../../src/engine/page/host/model_cache';
import type { LoadProgress } from '../../src/engine/protocol';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('Chromium is asked to keep the storage of the site; other browsers, which may show a question, are not', async () => {
  const persist = vi.fn(async () => true);
  vi.stubGlobal('navigator', { storage: { persist } });
  await askToKeep();
  expect(persist).not.toHaveBeenCalled();
  vi.stubGlobal('navigator', { storage: { persist }, userAgentData: {} });
  await askToKeep();
  expect(persist).toHaveBeenCalledTimes(1);
  vi.stubGlobal('navigator', { userAgentData: {} });
  await askToKeep(); // pages that are not secure have no such storage
});

test('a wait for another tab is in the progress while it lasts, and the signal ends it', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const told: (number | undefined)[] = [];
  const alone = new AbortController();
  const tracker = new LoadTracker((progress: LoadProgress) => told.push(progress.waitsMs), alone.signal);
  const end = vi.fn(() => stop());
  const stop = tracker.waits.begin(end, 60_000);
  vi.advanceTimersByTime(750);
  expect(told).toEqual([250, 500, 750]);
  alone.abort();
  expect(end).toHaveBeenCalledTimes(1);
  tracker.addBytes(1);
  vi.advanceTimersByTime(2000);
  expect(told).toEqual([250, 500, 750, undefined]);
  expect(tracker.waits.isAlone).toBe(true);
});
