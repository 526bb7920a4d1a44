// The probe of a fused step on this machine's adapter: it ends, whatever it finds.

import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { Residency } from '../../../src/kernels/step/residency';
import { testGpu } from '../../gpu/test_device';

const THREADS = 64;
const BYTES = 8192;

test('some workgroups run at once: on a CPU at most one a core', async () => {
  const gpu = await testGpu();
  const before = gpu.allocatedBytes;
  const residency = await Residency.create(gpu, THREADS, BYTES);
  const resident = await residency.resident();
  expect(resident).toBeGreaterThanOrEqual(1);
  expect(resident).toBeLessThanOrEqual(gpu.isSoftware ? availableParallelism() : 1024);
  expect(await residency.resident()).toBeGreaterThanOrEqual(1); // nothing is left of the first count
  residency.destroy();
  expect(gpu.allocatedBytes).toBe(before);
});

for (const without of [[], ['timestamps'], ['immediates']] as const) {
  test(`rounds of a lone workgroup end, without ${without.join() || 'nothing'}`, async () => {
    const residency = await Residency.create(await testGpu(without), THREADS, BYTES);
    const us = await residency.rounds([1, 1]);
    expect(us).toHaveLength(2);
    for (const each of us ?? []) expect(each).toBeGreaterThan(0);
    residency.destroy();
  });
}

test('rounds of more workgroups than run at once give up', async () => {
  const gpu = await testGpu();
  const residency = await Residency.create(gpu, THREADS, BYTES);
  expect(await residency.rounds([gpu.isSoftware ? 4 * availableParallelism() : 1024])).toBeNull();
  expect(await residency.rounds([1])).toHaveLength(1); // and the next ones run
  residency.destroy();
});
