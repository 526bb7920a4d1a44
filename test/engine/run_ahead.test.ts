import { describe, expect, test } from 'vitest';
import { RunAhead } from '../../src/engine/run_ahead';

/** The depth after tokens that come every `stepMs`, in bursts of `burst`. */
function settle(stepMs: number, burst = 1, most = 16): number {
  const runAhead = new RunAhead('auto', most);
  for (let i = 0; i < 64; i++) runAhead.arrived(Math.floor(i / burst) * burst * stepMs);
  return runAhead.depth;
}

describe('auto queues a span of time', () => {
  test.each([
    [0.3, 15],
    [1, 5],
    [2, 3],
    [10, 2],
    [24, 2],
    [30, 1],
    [500, 1],
  ])('steps of %f ms: %i ahead', (stepMs, depth) => expect(settle(stepMs)).toBe(depth));

  test('bursts are seen through', () => expect(settle(1, 4)).toBeLessThanOrEqual(6));
  test('the ring is the limit', () => expect(settle(0.01)).toBe(16));
});

test('a number stays as it is, and must be one that the ring can hold', () => {
  const runAhead = new RunAhead(4, 16);
  for (let i = 0; i < 64; i++) runAhead.arrived(i * 100);
  expect(runAhead.depth).toBe(4);
  for (const asked of [0, 17, 1.5, Number.NaN]) expect(() => new RunAhead(asked, 16)).toThrow(/runAhead/);
});
