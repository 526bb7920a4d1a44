// The cost of steps of several requests: who is believed, and how often a GPU that may have idled is asked.

import { beforeEach, expect, test, vi } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import { timeBatch } from '../../../src/model/batch/batch_time';
import { testGpu } from '../../gpu/test_device';
import { tinyBackend } from '../doubles/loop_session';

vi.mock('../../../src/model/batch/batch_check', () => ({ checkBatch: async () => {} }));
vi.mock('../../../src/model/batch/batch_time', () => ({ timeBatch: vi.fn() }));

const told = vi.mocked(timeBatch);

/** Makes and ends a batch: the cost of a step of two, and whether it is sure. */
async function next(backend: Pick<Backend, 'batch'>) {
  const asked = { slots: 2, room: 64, least: 32, ids: Uint32Array.of(1, 2), plain: false };
  const batching = await backend.batch?.(asked);
  batching?.destroy();
  return [batching?.cost(2), batching?.isCostSure];
}

beforeEach(() => told.mockReset());

test('two requests that are faster in turns are timed by three batches', async () => {
  const backend = await tinyBackend(await testGpu(), 128);
  told.mockResolvedValue(() => 2.1);
  const found = [await next(backend), await next(backend), await next(backend), await next(backend)];
  expect(found).toEqual([
    [2.1, false],
    [2.1, false],
    [2.1, true],
    [2.1, true],
  ]);
  expect(told).toHaveBeenCalledTimes(3);
});

test('a batch that is faster is timed once, and one that was slower until it is', async () => {
  const gpu = await testGpu();
  told.mockResolvedValueOnce(() => 1.7);
  const fast = await tinyBackend(gpu, 128);
  expect([await next(fast), await next(fast)]).toEqual([
    [1.7, true],
    [1.7, true],
  ]);
  told.mockResolvedValueOnce(() => 2.1).mockResolvedValueOnce(() => 1.7);
  const cold = await tinyBackend(gpu, 128);
  expect([await next(cold), await next(cold), await next(cold)]).toEqual([
    [2.1, false],
    [1.7, true],
    [1.7, true],
  ]);
  expect(told).toHaveBeenCalledTimes(3);
});
