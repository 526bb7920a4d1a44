// Looks at the GPU's work, with a scheduler whose time passes when the test says so.

import { afterEach, expect, test, vi } from 'vitest';
import { WordReadback } from '../../src/gpu/readback';
import { Watch } from '../../src/gpu/watch';
import { nextTask } from '../../src/shared/next_task';
import { testGpu } from './test_device';

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

test('a close watch looks after a quarter of a millisecond, then ever later, until its wait ends', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(100);
  const { watch, submits, delays, pass } = watched();
  const passAt = (ms: number) => {
    now.mockReturnValue(ms);
    return pass();
  };
  let arrive = () => {};
  watch.closely(new Promise<void>((resolve) => (arrive = resolve)), 0);
  watch.begin();
  for (const ms of [100.1, 100.2]) await passAt(ms);
  expect(submits.length).toBe(0);
  await passAt(100.25);
  expect(submits.length).toBe(1);
  await passAt(100.5); // 0.26 ms later
  expect(submits.length).toBe(1);
  await passAt(100.52);
  expect([submits.length, ...delays]).toEqual([2, 0, 0, 0, 0, 0, 0]);
  arrive();
  await pass();
  expect([submits.length, delays[6]]).toEqual([3, 1]);
  watch.closely(Promise.reject(new RangeError('a test')), 0);
  await pass();
  expect(delays[7]).toBe(1);
  now.mockRestore();
});

test('the end of an earlier wait leaves a close watch as it is', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(100);
  const { watch, delays, pass } = watched();
  let arrive = () => {};
  watch.closely(new Promise<void>((resolve) => (arrive = resolve)), 0);
  watch.closely(new Promise(() => {}), 0);
  watch.begin();
  arrive();
  await pass();
  await pass();
  expect(delays).toEqual([0, 0, 0]);
  now.mockRestore();
});

test('a clock of whole milliseconds ends a close watch with its first step', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(100);
  const { watch, submits, delays, pass } = watched();
  watch.closely(new Promise(() => {}), 0);
  watch.begin();
  for (let i = 0; i < 5; i++) await pass();
  expect(submits.length).toBe(0);
  now.mockReturnValue(101);
  await pass();
  expect(submits.length).toBe(1);
  expect(delays).toEqual([0, 0, 0, 0, 0, 0, 1]);
  now.mockRestore();
});

test('a close watch looks each millisecond after 36 looks, 19 ms, and then a hundredth later each time', async () => {
  let ms = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => ms);
  const { watch, submits, delays, pass } = watched();
  watch.closely(new Promise(() => {}), 0);
  watch.begin();
  for (let pause = 0.25; submits.length < 36; pause *= 1.04) {
    ms += pause;
    await pass();
  }
  expect(delays).toEqual([...Array(36).fill(0), 1]);
  expect(ms).toBeCloseTo(19.4, 1);
  for (let i = 37; i < 300; i++) {
    await pass();
    expect(delays[i]).toBeCloseTo(Math.min(1.01 * delays[i - 1], 10));
  }
  expect(delays[299]).toBe(10);
  watch.end(); // of another wait
  watch.begin();
  for (let i = 0; i < 2; i++) await pass();
  expect(delays.slice(300)).toEqual([1, 1.01]);
  now.mockRestore();
});

test('a close watch looks closely from 97 % of the expected wait on, a pause of a millisecond before at the earliest', async () => {
  let ms = 100;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => ms);
  const { watch, submits, delays, pass } = watched();
  watch.closely(new Promise(() => {}), 10);
  watch.begin();
  const looks: number[] = [];
  while (looks.length < 12) {
    ms += delays.at(-1) === 0 ? 0.25 : 1.1;
    const before = submits.length;
    await pass();
    if (submits.length > before) looks.push(ms - 100);
  }
  expect(looks.slice(0, 8)).toEqual(Array.from({ length: 8 }, (_, i) => expect.closeTo(1.1 * (i + 1))));
  expect(looks[8]).toBeCloseTo(9.05);
  expect(delays.slice(0, 8)).toEqual(Array.from({ length: 8 }, (_, i) => expect.closeTo(1.01 ** i)));
  expect(delays.slice(8).every((delay) => delay === 0)).toBe(true);
  now.mockRestore();
});

test('a close watch of a very long wait never looks closely', async () => {
  const { watch, delays, pass } = watched();
  watch.closely(new Promise(() => {}), 501);
  watch.begin();
  for (let i = 0; i < 20; i++) await pass();
  expect(Math.min(...delays)).toBe(1);
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

test('each wait of a device and of a readback is watched, also one that fails', async () => {
  const gpu = await testGpu();
  const begin = vi.spyOn(gpu.watch, 'begin');
  const end = vi.spyOn(gpu.watch, 'end');
  const submitted = vi.spyOn(gpu.watch, 'submitted');
  const source = gpu.upload('test.watch', Uint32Array.of(7, 8));
  const readback = new WordReadback(gpu, 1, 2);
  const copy = () => {
    const encoder = gpu.device.createCommandEncoder();
    const target = readback.copy(encoder, source, 0, 2);
    gpu.submit(encoder.finish());
    return target;
  };
  expect(new Uint32Array(await gpu.read(source, 8))).toEqual(Uint32Array.of(7, 8));
  await gpu.workDone();
  expect(await readback.read(copy())).toBe(7);
  expect(await readback.readMany(copy(), 2)).toEqual(Uint32Array.of(7, 8));
  expect([begin, end, submitted].map(({ mock }) => mock.calls.length)).toEqual([4, 4, 3]);
  const target = copy();
  target.mapAsync = () => Promise.reject(new RangeError('a test'));
  await expect(readback.read(target)).rejects.toThrow(/readback/i);
  await expect(readback.readMany(target, 2)).rejects.toThrow(/readback/i);
  expect([begin, end].map(({ mock }) => mock.calls.length)).toEqual([6, 6]);
  readback.destroy();
  gpu.destroyBuffer(source);
});
