// Whatever was asked before and beside it, an answer is that of a fresh engine. `npm run kv-search` plays more
// histories.

import { expect, test } from 'vitest';
import { historiesOf, newCounts } from './histories';
import { cpuHistories } from './history_engines';

test('12 random histories of send, edit, regenerate, abort, switch and reload', async () => {
  const play = historiesOf(await cpuHistories());
  const counts = newCounts();
  for (let seed = 1; seed <= 12; seed++) await play(seed, 8, counts);
  expect(counts.wrong).toEqual([]);
  expect(counts.requests).toBe(96);
  expect(counts.parked).toBeGreaterThan(4);
  expect(counts.stored).toBeGreaterThan(2);
  expect(counts.aborted).toBeGreaterThan(10);
});

test('10 of up to three requests beside each other', async () => {
  const play = historiesOf(await cpuHistories());
  const counts = newCounts();
  for (let seed = 1; seed <= 10; seed++) await play(seed, 5, counts, 3);
  expect(counts.wrong).toEqual([]);
  expect(counts.beside).toBeGreaterThan(20);
  expect(counts.parked).toBeGreaterThan(4);
  expect(counts.aborted).toBeGreaterThan(10);
});
