// Every shape reads all bytes of the buffer: a read that leaves some out would give a roofline out of reach.

import { expect, test } from 'vitest';
import { GPU_COPY_SRC, GPU_STORAGE } from '../../src/gpu/device';
import { READ_OUT_BYTES, READ_SPAN_BYTES, type ReadShape, readSpeed } from '../../src/tune/read_memory';
import { PATHS, pathName, testGpu } from '../gpu/test_device';

/** The only sum that the kernel writes. */
const SENTINEL = 0xdeadbeef;
const BYTES = 4 * READ_SPAN_BYTES;
const TIMES = { minMs: 0, rounds: 1 };

const SHAPES: ReadShape[] = [
  { workgroup: 128, loads: 8, grid: 3 }, // more turns for some workgroups than for others
  { workgroup: 256, loads: 1, grid: 64 },
  { workgroup: 256, loads: 4, grid: 1000 }, // more workgroups than blocks to read
];

for (const without of PATHS) {
  for (const shape of SHAPES) {
    const name = `${shape.workgroup} threads, ${shape.loads} loads, ${shape.grid} workgroups, ${pathName(without)}`;
    test(`all is read: ${name}`, async () => {
      const gpu = await testGpu(without);
      for (const word of [0, BYTES / 8, BYTES / 4 - 4]) {
        const words = new Uint32Array(BYTES / 4);
        words[word] = SENTINEL; // the first word of a load of 16 bytes
        const x = gpu.upload('x', words);
        const out = gpu.createBuffer('out', READ_OUT_BYTES, GPU_STORAGE | GPU_COPY_SRC);
        expect(await readSpeed(gpu, x, out, shape, TIMES)).toBeGreaterThan(0);
        const found = new Uint32Array(await gpu.read(out)).filter((sum) => sum !== 0);
        expect([...found]).toEqual([SENTINEL]);
        gpu.destroyBuffer(x);
        gpu.destroyBuffer(out);
      }
      expect(gpu.failure).toBeNull();
    });
  }
}

test('a workgroup that the GPU does not have is no speed', async () => {
  const gpu = await testGpu();
  const x = gpu.upload('x', new Uint32Array(READ_SPAN_BYTES / 4));
  expect(await readSpeed(gpu, x, x, { workgroup: 65_536, loads: 1, grid: 1 }, TIMES)).toBeNull();
  gpu.destroyBuffer(x);
});
