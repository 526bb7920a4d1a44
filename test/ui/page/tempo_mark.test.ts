// The beats of the tempo mark: at the tokens' own pace while they are slow, and at most four a second.

import { expect, test } from 'vitest';
import { Beats } from '../../../src/ui/page/tempo_mark';

/** The beats among tokens that come every `gapMs` for ten seconds. */
function beatsIn(gapMs: number): number {
  const beats = new Beats();
  let count = 0;
  for (let ms = 0; ms < 10_000; ms += gapMs) count += beats.isBeat(ms) ? 1 : 0;
  return count;
}

test('every slow token is a beat', () => {
  expect(beatsIn(500)).toBe(20);
});

test('fast tokens make at most four beats a second', () => {
  for (const gapMs of [1, 5, 60, 249]) expect(beatsIn(gapMs), `${gapMs} ms`).toBeLessThanOrEqual(40);
  expect(beatsIn(5)).toBe(40);
});
