// The progress of a load in words.

import { expect, test } from 'vitest';
import { describeProgress, describeWait } from '../../../src/ui/shared/load_bar';

test('progress says bytes, speed and time left, as far as they are known', () => {
  const p = {
    stage: 'weights',
    loadedBytes: 3_100_000,
    totalBytes: 26_100_000,
    bytesPerSecond: 8_200_000,
    secondsLeft: 2.8,
  } as const;
  expect(describeProgress(p)).toBe('3.1 MB of 26.1 MB · 3 s left · 8.2 MB/s');
  expect(describeProgress({ ...p, totalBytes: 0 })).toBe('3.1 MB');
  expect(describeProgress({ ...p, bytesPerSecond: null, secondsLeft: null })).toBe('3.1 MB of 26.1 MB');
  expect(describeProgress({ ...p, loadedBytes: 26_100_000 })).toBe('26.1 MB of 26.1 MB');
});

test('a load says which bytes come from storage', () => {
  const p = { stage: 'weights', totalBytes: 15e6, bytesPerSecond: 1e6, secondsLeft: 5 } as const;
  expect(describeProgress({ ...p, loadedBytes: 10e6, cachedBytes: 10e6 })).toBe(
    '10.0 MB of 15.0 MB · 5 s left · 1.0 MB/s · from this browser’s storage',
  );
  expect(describeProgress({ ...p, loadedBytes: 10e6, cachedBytes: 4e6 })).toContain(
    '4.0 MB from this browser’s storage',
  );
  expect(describeProgress({ ...p, loadedBytes: 10e6 })).not.toContain('storage');
  expect(describeProgress({ ...p, totalBytes: 0, loadedBytes: 0 })).toBe('');
});

test('a wait for another tab is told after a second', () => {
  const p = { stage: 'open', loadedBytes: 0, totalBytes: 0, bytesPerSecond: null, secondsLeft: null } as const;
  expect(describeWait(p)).toBe('');
  expect(describeWait({ ...p, waitsMs: 999 })).toBe('');
  expect(describeWait({ ...p, waitsMs: 1_000 })).toBe('for 1 s');
  expect(describeWait({ ...p, waitsMs: 65_400 })).toBe('for 1 min 5 s');
});
