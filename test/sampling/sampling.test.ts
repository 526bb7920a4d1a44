// The bytes of sampling parameters.

import { expect, test } from 'vitest';
import { packSampling, SAMPLING_BYTES } from '../../src/sampling/sampling';
import { OFF } from './params';

test('packs the struct that the kernels read', () => {
  const params = {
    ...OFF,
    temperature: 0.5,
    topK: 40,
    topP: 0.75,
    minP: 0.25,
    repetitionPenalty: 1.5,
    seed: 0xfffffffe,
  };
  const buffer = packSampling(params);
  expect(buffer.byteLength).toBe(SAMPLING_BYTES);
  const floats = new Float32Array(buffer);
  const words = new Uint32Array(buffer);
  expect([floats[0], floats[2], floats[3], floats[4], floats[6]]).toEqual([0.5, 0.75, 0.25, 1.5, 2]);
  expect([words[1], words[5]]).toEqual([40, 0xfffffffe]);
  expect(floats[7]).toBe(Math.fround(Math.log(0.25)));
});

test('packs finite numbers where greedy or min_p=0 would make infinite ones', () => {
  const floats = new Float32Array(packSampling({ ...OFF, temperature: 0 }));
  expect(floats[6]).toBe(0);
  expect(Number.isFinite(floats[7])).toBe(true);
  expect(floats[7]).toBeLessThan(-3.4e38);
});
