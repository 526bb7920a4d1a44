// Whatever was asked before, an answer is that of a fresh engine. `npm run kv-search` plays more histories.

import { expect, test } from 'vitest';
import { newCounts, openHistories } from './histories';

test('12 random histories of send, edit, regenerate, abort, switch and reload', async () => {
  const play = await openHistories();
  const counts = newCounts();
  for (let seed = 1; seed <= 12; seed++) await play(seed, 8, counts);
  expect(counts.wrong).toEqual([]);
  expect(counts.requests).toBe(96);
  expect(counts.parked).toBeGreaterThan(4);
  expect(counts.stored).toBeGreaterThan(2);
  expect(counts.aborted).toBeGreaterThan(10);
});
