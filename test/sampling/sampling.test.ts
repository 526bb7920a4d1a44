// The bytes of sampling parameters.

import { expect, test } from 'vitest';
import { BIASES_BYTES, MAX_BIASES, packBiases, packSampling, SAMPLING_BYTES } from '../../src/sampling/sampling';
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

test('packs penalties of the answer, its start, and how many biases and log probabilities there are', () => {
  const biases = [1, 2, 3].map((id) => ({ id, bias: 0, forbiddenUntil: 0 }));
  const params = { ...OFF, presencePenalty: -0.5, frequencyPenalty: 1.5, answerStart: 70_000, biases, logprobs: 20 };
  const buffer = packSampling(params);
  expect([...new Float32Array(buffer).subarray(8, 10)]).toEqual([-0.5, 1.5]);
  expect([...new Uint32Array(buffer).subarray(10)]).toEqual([70_000, 3, 20]);
  expect(new Uint32Array(packSampling(OFF))[12]).toBe(0);
});

test('packs biases of three words', () => {
  const buffer = packBiases([{ id: 9, bias: -100, forbiddenUntil: 0xffffffff }]);
  expect([...new Uint32Array(buffer)]).toEqual([9, 0xc2c80000, 0xffffffff]);
  expect(BIASES_BYTES).toBe(MAX_BIASES * buffer.byteLength);
});
