// Looks at the GPU's work, with a scheduler whose time passes when the test says so.

import { afterEach, expect, test } from 'vitest';
import { Watch } from '../../src/gpu/watch';
import { nextTask } from '../../src/shared/next_task';

type Timers = { scheduler?: unknown };
const timers = globalThis as Timers;
const before = timers.scheduler;

afterEach(() => {
  timers.scheduler = before;
});

/** A watch over a queue that counts what it is given, and `pass`, which lets the pause between two looks pass. */
function watched() {
  const submits: number[] = [];
  const pauses: (() => void)[] = [];
  const delays: number[] = [];
  timers.scheduler = {
    postTask: (task: () => void, { delay }: { delay: number }) =>
      new Promise<void>((resolve) => {
        delays.push(delay);
        pauses.push(() => {
          task();
          resolve();
        });
      }),
  };
  const watch = new Watch({ submit: (commands: unknown[]) => submits.push(commands.length) } as unknown as GPUQueue);
  const pass = async () => {
    expect(pauses.length).toBeLessThanOrEqual(1);
    pauses.shift()?.();
    await nextTask();
  };
  return { watch, submits, pauses, delays, pass };
}

test('submits nothing after each pause while somebody waits, however many wait', async () => {
  const { watch, submits, pauses, pass } = watched();
  watch.begin();
  watch.begin();
  expect(submits).toEqual([]);
  await pass();
  await pass();
  expect(submits).toEqual([0, 0]);
  watch.end();
  await pass();
  expect(submits).toEqual([0, 0, 0]);
  watch.end();
  await pass();
  expect([submits.length, pauses.length]).toEqual([3, 0]);
});

test('a wait that begins after all others have ended is watched again', async () => {
  const { watch, submits, pass } = watched();
  for (let wait = 1; wait <= 3; wait++) {
    watch.begin();
    await pass();
    watch.end();
    await pass();
    expect(submits.length).toBe(wait);
  }
});

test('a longer wait is looked at less often, until something has arrived', async () => {
  const { watch, delays, pass } = watched();
  watch.begin();
  watch.begin();
  for (let i = 0; i < 40; i++) await pass();
  expect(delays[0]).toBe(1);
  for (const [i, delay] of delays.slice(1).entries()) expect(delay).toBeCloseTo(Math.min(1.1 * delays[i], 10));
  expect(delays[40]).toBe(10);
  watch.end();
  await pass();
  expect(delays[41]).toBe(1);
});

test('where work was submitted in the pause, nothing more is', async () => {
  const { watch, submits, pass } = watched();
  watch.begin();
  watch.submitted();
  await pass();
  expect(submits).toEqual([]);
  await pass();
  expect(submits).toEqual([0]);
});

test('in a browser without postTask, waits are only counted', () => {
  const { watch, submits } = watched();
  timers.scheduler = undefined;
  watch.begin();
  watch.end();
  expect(submits).toEqual([]);
});
