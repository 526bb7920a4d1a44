// The tuner's loop on a made-up meter: what it compiles, verifies and times, and which candidate wins.

import { expect, test } from 'vitest';
import { DeviceLostError, GpuProgramError } from '../../src/errors';
import type { Gpu } from '../../src/gpu/device';
import { checkTunable } from '../../src/tune/tune';
import { type Meter, type Search, type Tried, tune } from '../../src/tune/tuner';

const gpu = {} as Gpu;
const noStop = () => {};

/** A meter of numbers: each takes as many milliseconds. `log` tells each step. */
function meterOf(change: Partial<Meter<number, number>> = {}) {
  const log: string[] = [];
  const meter: Meter<number, number> = {
    async compile(ms) {
      log.push(`compile ${ms}`);
      return ms;
    },
    async verify(ms) {
      log.push(`verify ${ms}`);
      return null;
    },
    async time(kernels) {
      log.push(`time ${kernels.join(' ')}`);
      return [...kernels];
    },
    destroy: (ms) => log.push(`destroy ${ms}`),
    inTurn: true,
    ...change,
  };
  return { meter, log };
}

function searchOf(...batches: number[][]): Search<number> {
  return { candidates: () => batches, usual: batches[0][0], keyOf: String };
}

test('a batch in turn is compiled together, then verified, then timed together, and freed', async () => {
  const { meter, log } = meterOf();
  const { tried, winner } = await tune(gpu, searchOf([3, 1, 2]), meter, { throwIfStopped: noStop });
  expect(log).toEqual(
    'compile 3,compile 1,compile 2,verify 3,verify 1,verify 2,time 3 1 2,destroy 3,destroy 1,destroy 2'.split(','),
  );
  expect(tried.map(({ candidate }) => candidate)).toEqual([3, 1, 2]);
  expect(winner).toBe(tried[1]);
});

test('otherwise a batch is compiled ahead and freed, and each candidate is then measured alone', async () => {
  const { meter, log } = meterOf({ inTurn: false });
  await tune(gpu, searchOf([2, 1]), meter, { throwIfStopped: noStop });
  const alone = (ms: number) => [`compile ${ms}`, `verify ${ms}`, `time ${ms}`, `destroy ${ms}`];
  expect(log).toEqual(['compile 2', 'compile 1', 'destroy 2', 'destroy 1', ...alone(2), ...alone(1)]);
});

test('a generator sees the results so far, and no candidate is measured twice', async () => {
  const seen: number[] = [];
  function* candidates(tried: readonly Tried<number>[]) {
    yield [5, 4, 5];
    seen.push(tried.length);
    yield [4, 3];
    seen.push(tried.length);
  }
  const { meter } = meterOf();
  const { tried } = await tune(gpu, { ...searchOf([5]), candidates }, meter, { throwIfStopped: noStop });
  expect(seen).toEqual([2, 3]);
  expect(tried.map(({ ms }) => ms)).toEqual([5, 4, 3]);
});

test.each([
  [[1, 0.99], 1],
  [[1, 0.9], 0.9],
  [[2, 1, 0.99], 0.99],
])('of %j the first runs untuned: %d is kept', async (batch, kept) => {
  const { winner } = await tune(gpu, searchOf(batch), meterOf().meter, { throwIfStopped: noStop });
  expect(winner?.candidate).toBe(kept);
});

test('a short winner and the usual candidate are timed again, and the shorter time counts', async () => {
  const times: Record<number, number[]> = { 1: [1, 0.5], 2: [0.9, 0.95] };
  const { meter } = meterOf({ repeatBelowMs: 10, time: async (kernels) => kernels.map((k) => times[k].shift() ?? 0) });
  const { tried, winner } = await tune(gpu, searchOf([1, 2]), meter, { throwIfStopped: noStop });
  expect(tried.map(({ ms }) => ms)).toEqual([0.5, 0.9]);
  expect(winner?.candidate).toBe(1);
});

test('a candidate that does not compile, or is wrong, is refused with the reason', async () => {
  const { meter } = meterOf({
    async compile(ms) {
      if (ms === 1) throw new GpuProgramError('a kernel', 'is\nno kernel');
      return ms;
    },
    verify: async (ms) => (ms === 2 ? 'it is wrong' : null),
  });
  const { tried, winner } = await tune(gpu, searchOf([3, 1, 2]), meter, { throwIfStopped: noStop });
  expect(tried.map(({ refused }) => refused)).toEqual([null, expect.stringContaining('is no kernel'), 'it is wrong']);
  expect(winner?.candidate).toBe(3);
});

test('where none runs there is no winner', async () => {
  const { meter, log } = meterOf({ verify: async () => 'it is wrong' });
  expect((await tune(gpu, searchOf([1, 2]), meter, { throwIfStopped: noStop })).winner).toBeNull();
  expect(log.filter((step) => step.startsWith('time'))).toEqual([]);
});

test.each([
  ['a lost device', new DeviceLostError('reset'), gpu],
  ['an error of the code', new TypeError('no function'), gpu],
  [
    'a device that failed meanwhile',
    new DeviceLostError('gone'),
    { failure: new DeviceLostError('gone') } as unknown as Gpu,
  ],
])('%s ends the tuning, and kernels are freed', async (_, error, on) => {
  const { meter, log } = meterOf({
    async time() {
      throw error;
    },
  });
  const failing = tune(on, searchOf([1]), meter, { throwIfStopped: noStop });
  await expect(failing).rejects.toMatchObject({ message: error.message });
  if (on === gpu) expect(log.at(-1)).toBe('destroy 1');
});

test('stopped between two candidates, it frees the kernels', async () => {
  let asked = 0;
  const throwIfStopped = () => {
    if (asked++ === 2) throw new DOMException('Stopped.', 'AbortError');
  };
  const { meter, log } = meterOf();
  await expect(tune(gpu, searchOf([1, 2]), meter, { throwIfStopped })).rejects.toMatchObject({ name: 'AbortError' });
  expect(log).toEqual(['compile 1', 'compile 2', 'verify 1', 'destroy 1', 'destroy 2']);
});

test('an attention that was named is refused: tuning would not change it', () => {
  const refused = { code: 'invalid-request', option: 'attention' };
  expect(() => checkTunable('eager')).toThrow(expect.objectContaining(refused));
  expect(() => checkTunable('auto')).not.toThrow();
});
