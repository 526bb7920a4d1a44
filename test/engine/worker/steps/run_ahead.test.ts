// The run-ahead in simulated browsers: a GPU runs queued steps one after another, and their readbacks arrive late.

import { describe, expect, test, vi } from 'vitest';
import { RunAhead } from '../../../../src/engine/worker/steps/run_ahead';

const MOST = 64;
const SHARED = 16;
/** Milliseconds of the worker's own work for an id. */
const JS_MS = 0.02;

/** The arrival of a readback that was finished at `at`. */
type Browser = (at: number) => number;

const grid =
  (ms: number): Browser =>
  (at) =>
    Math.ceil(at / ms) * ms;

/** Polls at irregular times, `low` to `high` apart. */
function jitter(low: number, high: number): Browser {
  let state = 1;
  let poll = 0;
  return (at) => {
    while (poll < at) {
      state = (state * 1103515245 + 12345) % 2147483648;
      poll += low + (state / 2147483648) * (high - low);
    }
    return poll;
  };
}

/** Receives nothing from `from` until `to`. */
const stalled =
  (browser: Browser, from: number, to: number): Browser =>
  (at) => {
    const heard = browser(at);
    return heard > from && heard < to ? to : heard;
  };

interface Simulated {
  /** Share of the time from `warmMs` on in which the GPU works. */
  busy: number;
  /** Milliseconds of queued work behind an id when it arrives, which a stop has to wait for. */
  stopMs: number;
  runAhead: RunAhead;
  /** Depth at each arrival, by time. */
  depths: [number, number][];
}

/** Runs the loop of generate.ts in simulated time. */
function simulate(
  stepMs: number,
  heard: Browser,
  { totalMs = 4000, warmMs = 1500, runAhead = new RunAhead('auto', MOST, SHARED) } = {},
): Simulated {
  const readbacks: { at: number; steps: number }[] = [];
  const depths: [number, number][] = [];
  let now = 0;
  let inFlight = 0;
  let gpuFree = 0;
  let idle = 0;
  let stopMs = 0;
  while (now < totalMs) {
    while (inFlight + runAhead.shared <= runAhead.depth && readbacks.length < MOST) {
      if (now > warmMs) idle += Math.max(0, now - gpuFree);
      gpuFree = Math.max(gpuFree, now) + runAhead.shared * stepMs;
      readbacks.push({ at: gpuFree, steps: runAhead.shared });
      inFlight += runAhead.shared;
    }
    const { at, steps } = readbacks.shift()!;
    now = Math.max(now, heard(at));
    for (let i = 0; i < steps; i++) {
      now += JS_MS;
      inFlight--;
      runAhead.arrived(now);
      depths.push([now, runAhead.depth]);
      if (now > warmMs) stopMs = Math.max(stopMs, gpuFree - now);
    }
  }
  return { busy: 1 - idle / (now - warmMs), stopMs, runAhead, depths };
}

/** Steps share a readback up to this much work, as long as three readbacks are in flight. */
const SHARED_MS = 1.5;

function expectShared({ shared, depth }: RunAhead, stepMs: number): void {
  expect(shared * stepMs).toBeLessThanOrEqual(Math.max(SHARED_MS + stepMs, (depth / MOST) * stepMs + stepMs));
  expect(Math.floor(depth / shared)).toBeGreaterThanOrEqual(Math.min(3, depth));
}

const STEPS = [0.15, 0.25, 0.6, 2, 10, 30];

describe('auto keeps the GPU busy', () => {
  test.each(STEPS)('in Chromium, which polls every 3 ms, at %f ms a step', (stepMs) => {
    const { busy, stopMs, runAhead } = simulate(stepMs, grid(3), { warmMs: 200 });
    expect(busy).toBeGreaterThan(0.97);
    expect(stopMs).toBeLessThanOrEqual(Math.max(9, stepMs));
    expectShared(runAhead, stepMs);
    expect(runAhead.depth).toBeLessThanOrEqual(Math.max(2, Math.ceil(9 / stepMs)));
  });

  test.each(STEPS)('where it polls every 2 to 5 ms, at %f ms a step', (stepMs) => {
    const { busy, stopMs, runAhead } = simulate(stepMs, jitter(2, 5), { warmMs: 200 });
    expect(busy).toBeGreaterThan(0.95);
    expect(stopMs).toBeLessThanOrEqual(Math.max(15, 2 * stepMs));
    expectShared(runAhead, stepMs);
  });

  test.each(STEPS)('in Firefox, which polls every 100 ms, at %f ms a step', (stepMs) => {
    const { busy, stopMs, runAhead } = simulate(stepMs, grid(100), { totalMs: 8000, warmMs: 4500 });
    expect(busy).toBeGreaterThan(0.97);
    expect(stopMs).toBeLessThanOrEqual(200); // two polls, of which a stop would wait for the second anyway
    expectShared(runAhead, stepMs);
  });

  test.each(STEPS)('where it polls every 80 to 110 ms, at %f ms a step', (stepMs) => {
    const { busy, stopMs } = simulate(stepMs, jitter(80, 110), { totalMs: 8000, warmMs: 4500 });
    expect(busy).toBeGreaterThan(0.95);
    expect(stopMs).toBeLessThanOrEqual(220);
  });

  test.each(STEPS)('where nothing is late, at %f ms a step', (stepMs) => {
    const { busy, stopMs, runAhead } = simulate(stepMs, (at) => at, { warmMs: 200 });
    expect(busy).toBeGreaterThan(0.98);
    expect(stopMs).toBeLessThanOrEqual(Math.max(9, stepMs));
    expect(runAhead.depth).toBeLessThanOrEqual(Math.max(2, Math.ceil(9 / stepMs)));
  });
});

test.each([0.25, 2, 10])('arrivals that are later than those of any browser get no more, at %f ms a step', (stepMs) => {
  const { stopMs } = simulate(stepMs, grid(240), { totalMs: 15_000, warmMs: 9000 });
  expect(stopMs).toBeLessThanOrEqual(165 + 2 * stepMs);
});

test.each(STEPS)(
  'where waits make the browser look, late arrivals get no more than 50 ms, at %f ms a step',
  (stepMs) => {
    vi.stubGlobal('scheduler', {});
    try {
      const { stopMs, runAhead } = simulate(stepMs, grid(100), { totalMs: 8000 });
      expect(stopMs).toBeLessThanOrEqual(50 + 2 * stepMs);
      expectShared(runAhead, stepMs);
    } finally {
      vi.unstubAllGlobals();
    }
  },
);

test('ids that arrive in two bursts, one shortly behind the other, do not make steps look short', () => {
  let poll = 0;
  let heard = 0;
  const split: Browser = (at) => {
    const next = Math.ceil(at / 60) * 60;
    heard = next === poll ? heard + 1 : 0;
    poll = next;
    return heard < 1 ? poll : poll + 4;
  };
  const { runAhead, stopMs } = simulate(10, split, { totalMs: 8000 });
  expect(runAhead.stepMs).toBeGreaterThan(9);
  expect(stopMs).toBeLessThanOrEqual(120);
});

test.each([70, 150, 500])('a stop waits for no step behind its own at %f ms a step', (stepMs) => {
  expect(simulate(stepMs, grid(3)).runAhead.depth).toBe(1);
});

test('the first answer is at speed after 25 ms, the next at once', () => {
  const { depths, runAhead } = simulate(0.25, grid(3));
  const settled = depths.find(([, depth]) => depth >= 12);
  expect(settled?.[0]).toBeLessThan(25);
  const before = runAhead.depth;
  runAhead.restart();
  runAhead.arrived(1e6);
  runAhead.arrived(1e6 + 3);
  expect(runAhead.depth).toBe(before);
});

describe('what is not regular', () => {
  for (const stepMs of [0.25, 2, 30]) {
    test(`a stall of a second is forgotten, ${stepMs} ms a step`, () => {
      const usual = simulate(stepMs, grid(3));
      const deepest = Math.max(...usual.depths.map(([, depth]) => depth));
      const { depths, busy, stopMs } = simulate(stepMs, stalled(grid(3), 1000, 2000), { warmMs: 2100 });
      for (const [, depth] of depths) expect(depth).toBeLessThanOrEqual(deepest + 2);
      expect(busy).toBeGreaterThan(0.97);
      expect(stopMs).toBeLessThan(50);
    });
  }

  test('a page that sleeps a second at a time is not fed through its sleep, and runs on when it wakes', () => {
    const asleep = simulate(0.25, (at) => (at < 1000 || at > 9000 ? grid(3)(at) : grid(1000)(at)), {
      totalMs: 10_000,
      warmMs: 9100,
    });
    for (const [, depth] of asleep.depths) expect(depth * 0.25).toBeLessThan(50);
    expect(asleep.busy).toBeGreaterThan(0.97);
  });

  test('a clock that stands still changes nothing', () => {
    const runAhead = new RunAhead('auto', MOST, SHARED);
    for (let i = 0; i < 100; i++) runAhead.arrived(5);
    expect(runAhead.depth).toBe(2);
  });
});

describe('the ring', () => {
  test('is the limit where readbacks are not shared', () => {
    const { runAhead } = simulate(0.15, grid(100), { runAhead: new RunAhead('auto', MOST) });
    expect(runAhead).toMatchObject({ depth: MOST, shared: 1 });
  });

  test('of one readback makes the GPU wait', () => {
    const { runAhead } = simulate(0.15, grid(3), { runAhead: new RunAhead('auto', 1) });
    expect(runAhead).toMatchObject({ depth: 1, shared: 1 });
  });
});

test('a number stays as it is, and must be one that the ring can hold', () => {
  const runAhead = new RunAhead(4, 16, SHARED);
  for (let i = 0; i < 64; i++) runAhead.arrived(i * 100);
  expect(runAhead).toMatchObject({ depth: 4, shared: 1 });
  for (const asked of [0, 17, 1.5, Number.NaN]) expect(() => new RunAhead(asked, 16)).toThrow(/runAhead/);
});

test.each([
  [0.17, 32], // the storyteller on an H200
  [3, 16], // mostly the wait for the id, where the GPU has no clock
  [5, 10],
  [40, 2],
  [500, 2],
])('steps of at most %f ms: %i to begin with', (stepBoundMs, depth) => {
  expect(new RunAhead('auto', 64, 1, stepBoundMs).depth).toBe(depth);
  expect(new RunAhead(4, 64, 1, stepBoundMs).depth).toBe(4);
});
