// The memory of a model's open files is bounded, whatever their number.

import { expect, test } from 'vitest';
import { WindowCache, WindowPool } from '../../../src/storage/source/window_cache';

test('of twenty files the six most recently read keep their windows', async () => {
  const pool = new WindowPool();
  let fetches = 0;
  const fetch = async (_: number, length: number) => {
    fetches++;
    return new Uint8Array(length);
  };
  const files = Array.from({ length: 20 }, () => new WindowCache(100, 100, fetch, pool));
  const readAll = async (some: WindowCache[]) => {
    fetches = 0;
    for (const file of some) await file.read(0, 10);
    return fetches;
  };
  expect(await readAll(files)).toBe(20);
  expect(await readAll(files.slice(14))).toBe(0);
  expect(await readAll(files.slice(0, 14))).toBe(14);
});
