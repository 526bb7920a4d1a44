// The pace of drawings.

import { expect, test } from 'vitest';
import { waitAfter } from '../../../src/metrics/shared/draw_pacer';

test('drawing keeps its pace, slows where it costs more or frames are late, and never stops', () => {
  const pace = { leastMs: 48, share: 0.01 };
  expect([waitAfter(0.1, false, pace), waitAfter(2, false, pace), waitAfter(2, true, pace)]).toEqual([48, 200, 400]);
  expect(waitAfter(500, true, pace)).toBe(1000);
});
