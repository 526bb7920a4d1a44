// Histories whose requests step in a batch on the GPU: whatever was asked before and beside it, an answer is that of a
// fresh engine. `npm run kv-search -- --gpu` plays more of them.

import { expect, test } from 'vitest';
import { testGpu } from '../../gpu/test_device';
import { historiesOf, newCounts } from './histories';
import { batchHistories } from './history_engines';

test('2 random histories of up to four requests at once', async () => {
  const play = historiesOf(await batchHistories(await testGpu()));
  const counts = newCounts();
  for (let seed = 5; seed <= 6; seed++) await play(seed, 6, counts, 4);
  expect(counts.wrong).toEqual([]);
  expect(counts.together).toBeGreaterThan(50);
  expect(counts.parked).toBeGreaterThan(0);
  expect(counts.aborted).toBeGreaterThan(3);
  expect(counts.constrained).toBeGreaterThan(5);
});
