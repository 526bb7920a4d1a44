// Branches come when the cache holds a conversation: with all that was noted of it, or at the next try.

import { expect, test, vi } from 'vitest';
import { AnswerTurns } from '../../../../src/engine/worker/answer_turns';
import { branchesOf, LateBranches, leaveConversation } from '../../../../src/engine/worker/prefix_cache/late_branches';
import { distrustCache } from '../../../../src/engine/worker/request/reuse';
import type { Session } from '../../../../src/engine/worker/request/session';
import { TokenClock } from '../../../../src/engine/worker/steps/token_clock';
import type { AnswerBeside } from '../../../../src/engine/worker/turns/beside';
import type { Turn } from '../../../../src/engine/worker/turns/turns';

const ids = (first: number) => Uint32Array.from({ length: 100 }, (_, i) => first + i);

/** A session whose branches could come. Parked conversations are listed by their tokens. */
function session(least = 0) {
  const parked: number[] = [];
  const kv = { restore() {}, shrink: async () => null, extend: () => true, destroy() {} };
  const parking = {
    ...{ bytesPerToken: 1, bytesOf: (tokens: number) => tokens, least },
    park: async (tokens: number) => {
      parked.push(tokens);
      return kv;
    },
    prepare: vi.fn(async () => {}),
  };
  const late = new LateBranches(parking, 1000);
  const session = { backend: { parking }, cachedIds: [] as number[], lateBranches: late } as unknown as Session;
  return { session, late, parking, parked };
}

test('a cache without a conversation needs none', async () => {
  const { session: first, parking } = session();
  expect(await branchesOf(first)).toBeUndefined();
  await leaveConversation(first);
  expect(parking.prepare).not.toHaveBeenCalled();
});

test('what was noted of the first conversation holds when it is parked', async () => {
  const { session: first, late, parked } = session();
  expect(late.take(first, ids(0), () => 7)).toEqual({ cached: 0, report: 'new' });
  first.cachedIds = Array.from(ids(0));
  late.keep(60);
  const branches = await branchesOf(first);
  expect(first.branches).toBe(branches);
  await branches?.take(first, ids(500));
  expect(parked).toEqual([60]);
  expect(branches?.['parked'][0]?.systemTokens).toBe(7);
});

test('a next request begins with what the cache holds, but never with what a ring has lost', () => {
  const { session: first, late } = session(20);
  first.cachedIds = [...ids(0).slice(0, 20), 999];
  expect(late.take(first, ids(0), () => 0)).toEqual({ cached: 20, report: 'live' });
  first.cachedIds = [...ids(0).slice(0, 19), 999];
  expect(late.take(first, ids(0), () => 0)).toEqual({ cached: 0, report: 'new' });
});

test('a conversation that was given up before they came is told as cleared', async () => {
  const { session: first } = session();
  first.cachedIds = Array.from(ids(0));
  distrustCache(first);
  first.cachedIds = Array.from(ids(500));
  const branches = await branchesOf(first);
  expect((await branches?.take(first, ids(0)))?.report).toBe('cleared');
});

test('a conversation that was given up is told as cleared to the next request, too', async () => {
  const { session: first, late } = session();
  first.cachedIds = Array.from(ids(0));
  distrustCache(first);
  expect(await branchesOf(first)).toBeUndefined(); // nothing is in the cache
  expect(late.take(first, ids(0), () => 0)).toEqual({ cached: 0, report: 'cleared' });
});

test('a request waits two seconds for branches on their way, and has them when they come later', async () => {
  vi.useFakeTimers();
  try {
    const { session: first, parking } = session();
    first.cachedIds = Array.from(ids(0));
    let come = () => {};
    parking.prepare.mockImplementationOnce(() => new Promise((resolve) => (come = resolve)));
    const waits = branchesOf(first);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await waits).toBeUndefined();
    come();
    await vi.advanceTimersByTimeAsync(0);
    expect(first.branches?.held.branches).toBe(0);
    expect(parking.prepare).toHaveBeenCalledTimes(1);
  } finally {
    vi.useRealTimers();
  }
});

test('branches that do not come cost no request, and are asked for again', async () => {
  const { session: first, parking } = session();
  first.cachedIds = Array.from(ids(0));
  parking.prepare.mockRejectedValueOnce(new Error('no network'));
  expect(await branchesOf(first)).toBeUndefined();
  expect((await branchesOf(first))?.held.branches).toBe(0);
  expect(parking.prepare).toHaveBeenCalledTimes(2);
});

test.each([true, false])('an answer is shared once they are there, and goes on to its end if not: %s', async (come) => {
  const { session: first, parking } = session();
  if (!come) parking.prepare.mockRejectedValueOnce(new Error('no network'));
  const turn = { isShared: true, isOver: true, stay: vi.fn(() => Object.assign(turn, { isShared: false })) };
  const turns = new AnswerTurns(first, new TokenClock(), {} as AnswerBeside['asked'], turn as unknown as Turn);
  expect([turns.isShared, turns.isOver]).toEqual([false, false]);
  await vi.waitFor(() => expect(first.branches !== undefined || turn.stay.mock.calls.length > 0).toBe(true));
  expect([turns.isShared, turns.isOver]).toEqual([come, come]);
  expect(turn.stay.mock.calls.length > 0).toBe(!come);
});
