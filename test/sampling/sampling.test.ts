// Sampling parameters: defaults, ranges and bytes.

import { describe, expect, test } from 'vitest';
import { InvalidRequestError } from '../../src/errors';
import { DEFAULT_SAMPLING, packSampling, resolveSampling, SAMPLING_BYTES } from '../../src/sampling/sampling';

test('what is absent takes its default, and the seed is random', () => {
  const { seed, ...rest } = resolveSampling({});
  expect(rest).toEqual(DEFAULT_SAMPLING);
  expect(seed).toBe(seed >>> 0);
  expect(new Set(Array.from({ length: 8 }, () => resolveSampling({}).seed)).size).toBeGreaterThan(1);
});

test('what is given is kept, an undefined counts as absent', () => {
  const given = { temperature: 0, topK: 0, topP: 0, minP: 1, repetitionPenalty: 1.3, seed: 0xffffffff };
  expect(resolveSampling(given)).toEqual(given);
  expect(resolveSampling({ temperature: undefined, seed: 3 })).toEqual({ ...DEFAULT_SAMPLING, seed: 3 });
});

test('a temperature too cold for f32 is greedy', () => {
  expect(resolveSampling({ temperature: 1e-9 }).temperature).toBe(0);
  expect(resolveSampling({ temperature: 1e-5 }).temperature).toBe(1e-5);
});

describe('an illegal number is refused with its name, its value and the legal range', () => {
  for (const [name, value, range] of [
    ['temperature', -0.1, 'from 0 to 100'],
    ['temperature', Number.NaN, 'from 0 to 100'],
    ['temperature', Number.POSITIVE_INFINITY, 'from 0 to 100'],
    ['topK', -1, 'from 0 to 4294967295'],
    ['topK', 1.5, 'from 0 to 4294967295'],
    ['topP', 1.01, 'from 0 to 1'],
    ['minP', -1, 'from 0 to 1'],
    ['repetitionPenalty', 0, 'from 0.01 to 100'],
    ['seed', 2 ** 32, 'from 0 to 4294967295'],
    ['seed', -1, 'from 0 to 4294967295'],
  ] as const) {
    test(`${name}=${value}`, () => {
      const resolve = () => resolveSampling({ [name]: value });
      expect(resolve).toThrow(InvalidRequestError);
      expect(resolve).toThrow(name);
      expect(resolve).toThrow(range);
      expect(resolve).toThrow(String(value));
    });
  }

  test('a string from a caller without types', () => {
    expect(() => resolveSampling({ temperature: '1' as unknown as number })).toThrow('got 1');
  });
});

test('packs the struct that the kernels read', () => {
  const params = { temperature: 0.5, topK: 40, topP: 0.75, minP: 0.25, repetitionPenalty: 1.5, seed: 0xfffffffe };
  const buffer = packSampling(params);
  expect(buffer.byteLength).toBe(SAMPLING_BYTES);
  const floats = new Float32Array(buffer);
  const words = new Uint32Array(buffer);
  expect([floats[0], floats[2], floats[3], floats[4], floats[6]]).toEqual([0.5, 0.75, 0.25, 1.5, 2]);
  expect([words[1], words[5]]).toEqual([40, 0xfffffffe]);
  expect(floats[7]).toBe(Math.fround(Math.log(0.25)));
});

test('packs finite numbers where greedy or min_p=0 would make infinite ones', () => {
  const floats = new Float32Array(packSampling({ ...DEFAULT_SAMPLING, temperature: 0, minP: 0, seed: 0 }));
  expect(floats[6]).toBe(0);
  expect(Number.isFinite(floats[7])).toBe(true);
  expect(floats[7]).toBeLessThan(-3.4e38);
});
