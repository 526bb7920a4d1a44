// What the check of an fma says: the truth, and no where a device refuses it.

import { afterEach, expect, test, vi } from 'vitest';
import { DeviceLostError, GpuMemoryError } from '../../../src/errors';
import { isExact, roundsOnce } from '../../../src/kernels/linear/rounding';
import { hardwareGpu, testGpu, twinOf } from '../../gpu/test_device';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a difference and a product are exact, and an fma where it rounds once', async () => {
  const gpu = await hardwareGpu();
  expect(await isExact(gpu, false)).toBe(true);
  expect(await roundsOnce(gpu)).toBe(await isExact(gpu, true));
});

test('no adapter in software is asked', async () => {
  const gpu = await testGpu();
  const { dispatches } = gpu.counters;
  expect([gpu.isSoftware, await roundsOnce(gpu)]).toEqual([true, false]);
  expect(gpu.counters.dispatches).toBe(dispatches);
});

test('a device that refuses memory keeps the difference and the product', async () => {
  const gpu = twinOf(await hardwareGpu());
  gpu.upload = () => {
    throw new GpuMemoryError('The check', 256, null, 'None.');
  };
  expect(await roundsOnce(gpu)).toBe(false);
});

test('a lost device is an error each time, and no answer', async () => {
  const gpu = twinOf(await hardwareGpu());
  const read = vi.fn(() => Promise.reject(new DeviceLostError('a test')));
  gpu.read = read;
  await expect(roundsOnce(gpu)).rejects.toThrow('a test');
  await expect(roundsOnce(gpu)).rejects.toThrow('a test');
  expect(read).toHaveBeenCalledTimes(2);
});
