// The logit_bias kernel against addBiases of src/cpu/sample.ts.

import { expect, test } from 'vitest';
import { addBiases } from '../../../src/cpu/sample';
import { GPU_COPY_DST, GPU_UNIFORM } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { createLogitBias } from '../../../src/kernels/sampling/logit_bias';
import {
  ALWAYS,
  BIASES_BYTES,
  type LogitBias,
  MAX_BIASES,
  packBiases,
  packSampling,
  SAMPLING_BYTES,
} from '../../../src/sampling/sampling';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { OFF } from '../../sampling/params';
import { normalLogits, seededRandom } from '../../sampling/statistics';

async function biasOnGpu(
  logits: Float32Array<ArrayBuffer>,
  biases: readonly LogitBias[],
  step: { position: number; nTokens: number },
  without: (typeof PATHS)[number] = [],
): Promise<Float32Array> {
  const gpu = await testGpu(without);
  const kernel = await createLogitBias(gpu, { vocabSize: logits.length });
  const buffer = gpu.upload('logits', logits);
  const sampling = gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  gpu.write(sampling, new Uint8Array(packSampling({ ...OFF, biases })));
  // An entry past the last would be seen.
  const stale = packBiases(Array.from({ length: MAX_BIASES }, () => ({ id: 0, bias: 50, forbiddenUntil: 0 })));
  expect(stale.byteLength).toBe(BIASES_BYTES);
  const entries = gpu.upload('biases', new Uint8Array(stale));
  if (biases.length > 0) gpu.write(entries, new Uint8Array(packBiases(biases)));
  const list = new CommandList(gpu);
  kernel.record(list, kernel.bind(buffer, entries, sampling));
  list.run(step);
  const result = new Float32Array(await gpu.read(buffer, logits.byteLength));
  expect(gpu.failure).toBeNull();
  return result;
}

const STEP = { position: 8, nTokens: 1 };

for (const without of PATHS) {
  for (const count of without.length === 0 ? [0, 1, 255, 256, 257, MAX_BIASES] : [257]) {
    test(`adds ${count} biases, ${pathName(without)}`, async () => {
      const random = seededRandom(count + 1);
      const logits = normalLogits(4096, 3, random);
      const biases = Array.from({ length: count }, (_, i) => ({
        id: 4095 - 2 * i,
        bias: Math.fround(200 * random() - 100),
        forbiddenUntil: i % 3 === 0 ? 8 + (i % 4) : 0,
      }));
      expect([...(await biasOnGpu(logits, biases, STEP, without))]).toEqual([...addBiases(logits, biases, 9)]);
    });
  }
}

test('forbids a token until the new token has the position', async () => {
  const biases = [{ id: 1, bias: 2, forbiddenUntil: 9 }];
  const logits = Float32Array.of(1, 1, 1);
  const at = async (position: number, nTokens: number) => [...(await biasOnGpu(logits, biases, { position, nTokens }))];
  expect(await at(7, 1)).toEqual([1, Number.NEGATIVE_INFINITY, 1]);
  expect(await at(8, 1)).toEqual([1, 3, 1]);
  expect(await at(0, 8)).toEqual([1, Number.NEGATIVE_INFINITY, 1]);
  expect(await at(0, 9)).toEqual([1, 3, 1]);
});

test('leaves a logit that is not finite, and ids outside the vocabulary', async () => {
  const logits = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1);
  for (const forbiddenUntil of [0, ALWAYS]) {
    const biases = [0, 1, 2, 4, 9].map((id) => ({ id, bias: 100, forbiddenUntil }));
    expect([...(await biasOnGpu(logits, biases, STEP))]).toEqual([...logits]);
  }
});
