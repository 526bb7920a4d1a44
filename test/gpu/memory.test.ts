// Memory that the GPU refuses: which error that is, whose it is, and that nothing stays allocated.

import { expect, test } from 'vitest';
import { GpuMemoryError } from '../../src/errors';
import { WordReadback } from '../../src/gpu/readback';
import { measureRoofline } from '../../src/tune/roofline';
import { faultyGpu } from '../faults/memory_faults';

const STORAGE = 0x80;
const MAP_READ_COPY_DST = 9;

test('a refused buffer is the failure of the device, with its name, its bytes and those in use', async () => {
  const { gpu, live, ...faults } = await faultyGpu({ refuse: (_, __, label) => label === 'second' });
  gpu.createBuffer('first', 400, STORAGE);
  gpu.createBuffer('second', 20, STORAGE);
  await expect(gpu.settled()).rejects.toThrow(
    'The buffer "second" needs 20 bytes beside the 400 in use; the GPU refused it. Close',
  );
  expect(gpu.failure).toMatchObject({ code: 'gpu-memory', requestedBytes: 20, usedBytes: 400, canRetry: true });
  gpu.destroy();
  expect([live.size, gpu.allocatedBytes]).toEqual([0, 0]);
  await faults.end();
});

test('under a guard it is the error of the call, with the bytes of all, and all are destroyed', async () => {
  const { gpu, live, ...faults } = await faultyGpu({ refuse: (_, __, label) => label === 'b' });
  const kept = gpu.createBuffer('kept', 100, STORAGE);
  const guarded = gpu.guardMemory('A group', () => ['a', 'b', 'c'].map((l) => gpu.createBuffer(l, 1000, STORAGE)));
  await expect(guarded).rejects.toMatchObject({
    message: expect.stringMatching(
      /^A group \(refused at "b" of 1000 bytes\) needs 3000 bytes beside the 1100 in use;/,
    ),
    requestedBytes: 3000,
    usedBytes: 1100,
  });
  expect([[...live], gpu.allocatedBytes, gpu.peakBytes, gpu.failure]).toEqual([[kept], 100, 100, null]);
  gpu.destroy();
  await faults.end();
});

test('a call that throws a RangeError is the same error', async () => {
  const { gpu, ...faults } = await faultyGpu({ fault: 'thrown', refuse: () => true });
  expect(() => gpu.createBuffer('x', 64, STORAGE)).toThrow(GpuMemoryError);
  await expect(gpu.guardMemory('A group', () => gpu.createBuffer('x', 64, STORAGE))).rejects.toThrow(/"x" needs 64/);
  expect([gpu.allocatedBytes, gpu.failure]).toEqual([0, null]);
  gpu.destroy();
  await faults.end();
});

test('a readback without memory for its bytes is a typed error', async () => {
  const { gpu, ...faults } = await faultyGpu({ fault: 'unmapped', refuse: (_, __, label) => label !== 'x' });
  const x = gpu.createBuffer('x', 64, STORAGE | 4);
  const expected = { code: 'gpu-memory', requestedBytes: 64 };
  await expect(gpu.read(x, 64)).rejects.toMatchObject(expected);
  const target = gpu.createBuffer('target', 64, MAP_READ_COPY_DST);
  await expect(gpu.readMapped(target, 64)).rejects.toMatchObject(expected);
  const readback = new WordReadback(gpu, 1, 16);
  const copy = readback.copy(gpu.device.createCommandEncoder(), x, 0);
  await expect(readback.readMany(copy, 16)).rejects.toMatchObject(expected);
  await expect(readback.read(copy)).rejects.toMatchObject({ code: 'gpu-memory', requestedBytes: 4 });
  gpu.destroy();
  await faults.end();
});

test('memory that runs out in a command is the failure of the device, and may be tried again', async () => {
  const { gpu, report, ...faults } = await faultyGpu();
  gpu.createBuffer('x', 4096, STORAGE);
  report('out of memory in a submit');
  expect(await gpu.failing).toMatchObject({
    message: expect.stringMatching(
      /^The GPU's work on its 1 buffers needs 4096 bytes; .*\(out of memory in a submit\)$/,
    ),
    code: 'gpu-memory',
    requestedBytes: 4096,
    canRetry: true,
  });
  gpu.destroy();
  await faults.end();
});

test('measuring allocates nothing', async () => {
  const { gpu, labels, ...faults } = await faultyGpu();
  const { bytes, result } = gpu.measure(() => gpu.createBuffer('x', 4096, STORAGE));
  expect([bytes, result.size, labels, gpu.allocatedBytes, gpu.peakBytes]).toEqual([4096, 4096, [], 0, 0]);
  gpu.destroy();
  await faults.end();
});

test('the n-th refused buffer of a trial ends it, for every n, and the device works on', async () => {
  const { gpu, labels, live, ...faults } = await faultyGpu();
  gpu.createBuffer('of the model', 100, STORAGE);
  const roofline = () => gpu.trial('Measuring', () => measureRoofline(gpu, () => false));
  expect((await roofline()).readGBps).toBeGreaterThan(0);
  const count = labels.length;
  expect([labels.slice(0, 4), live.size]).toEqual([
    ['of the model', 'roofline.x', 'roofline.out', 'roofline.random'],
    1,
  ]);
  for (let n = 1; n < count; n++) {
    const at = labels.length + n - 1;
    faults.refuse((i) => i === at);
    await expect(roofline(), `${n}: ${labels[n]}`).rejects.toMatchObject({ code: 'gpu-memory', canRetry: true });
    expect([live.size, gpu.allocatedBytes, gpu.failure]).toEqual([1, 100, null]);
  }
  faults.refuse(() => false);
  expect((await roofline()).readGBps).toBeGreaterThan(0);
  gpu.destroy();
  expect(live.size).toBe(0);
  await faults.end();
});
