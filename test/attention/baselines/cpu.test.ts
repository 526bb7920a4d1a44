// cpu against the reference: all cases of the suite.

import { expect, test } from 'vitest';
import { planCpu } from '../../../src/attention/baselines/baseline_plans';
import { createCpu } from '../../../src/attention/baselines/cpu';
import { CommandList } from '../../../src/gpu/kernel';
import { hardwareGpu } from '../../gpu/test_device';
import { SMALL } from '../cases';
import { testSibling } from '../suite';

testSibling('cpu', 0);

const NONE = {
  maxComputeWorkgroupStorageSize: 0,
  maxComputeInvocationsPerWorkgroup: 0,
  maxStorageBufferBindingSize: 0,
};

test('it needs nothing of the GPU but a buffer to read back', () => {
  const queries = 32 * 4 * 32 * 4;
  expect(planCpu(SMALL, NONE)).toEqual({ parameters: {}, derived: {}, scratchBytes: queries + 2 * 2 * 64 * 32 * 4 });
  expect(planCpu({ ...SMALL, kvType: 'f16' }, NONE).scratchBytes).toBe(queries + 2 * 2 * 64 * 32 * 2);
});

test('it has no parameters', () => {
  expect(() => planCpu(SMALL, NONE, { CHUNK: 8 })).toThrow('it has no parameters, so no CHUNK either');
});

test.each(['f32', 'f16'] as const)(
  'a pass is one sync that reads the queries and the %s rows in use, no more',
  async (kvType) => {
    const gpu = await hardwareGpu();
    const kernel = await createCpu(gpu, { ...SMALL, kvType });
    const [q, k, v, out] = ['q', 'k', 'v', 'out'].map((name) => gpu.upload(name, new Float32Array(4096)));
    const list = new CommandList(gpu);
    kernel.bind(q, k, v, out, null).record(list, 3);
    expect(list.needsHost).toBe(true);
    for (const position of [0, 61]) {
      const before = { ...gpu.counters };
      await list.run({ position, nTokens: 3 });
      expect(gpu.counters.syncs - before.syncs).toBe(1);
      const rows = 2 * 2 * (position + 3) * (kvType === 'f16' ? 2 : 4);
      expect(gpu.counters.bytesRead - before.bytesRead).toBe((3 * 4 * 4 + rows) * 32);
      expect(gpu.counters.dispatches).toBe(before.dispatches);
    }
  },
);
