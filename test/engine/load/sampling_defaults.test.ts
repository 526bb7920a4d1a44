// The sampling that a model's files suggest: which values are taken, and that hostile ones are not.

import { expect, test } from 'vitest';
import { readSamplingDefaults } from '../../../src/engine/load/sampling_defaults';
import type { GgufValue } from '../../../src/storage/formats/gguf_metadata';

const read = (generationConfig: Record<string, unknown> | null, gguf: [string, GgufValue][] | null = null) =>
  readSamplingDefaults({ generationConfig, gguf: gguf && new Map(gguf) });

test('takes the values of generation_config.json, and no others', () => {
  expect(read({ temperature: 0.7, top_p: 0.8, top_k: 20, min_p: 0, repetition_penalty: 1.05, num_beams: 4 })).toEqual({
    temperature: 0.7,
    topP: 0.8,
    topK: 20,
    minP: 0,
    repetitionPenalty: 1.05,
  });
  expect(read({ do_sample: false, temperature: 0.7 })).toEqual({});
  expect([read({}), read(null)]).toEqual([{}, {}]);
});

test('takes those of a GGUF as they were written, where the folder has none', () => {
  const gguf: [string, GgufValue][] = [
    ['general.sampling.temp', Math.fround(0.7)],
    ['general.sampling.top_k', 40n],
    ['general.sampling.penalty_repeat', Math.fround(1.1)],
  ];
  expect(read(null, gguf)).toEqual({ temperature: 0.7, topK: 40, repetitionPenalty: 1.1 });
  expect(read({ temperature: 0.2 }, gguf)).toMatchObject({ temperature: 0.2, topK: 40 });
});

test('leaves out what the options do not allow', () => {
  for (const bad of [-1, Number.NaN, Infinity, '0.7', null, [0.7], { valueOf: 1 }, true, 1e300]) {
    expect(read({ temperature: bad, top_k: bad, top_p: bad, min_p: bad }).temperature).toBeUndefined();
    expect(read(null, [['general.sampling.top_p', bad as GgufValue]])).toEqual({});
  }
  expect(read({ top_k: 2.5, top_p: 1.01, repetition_penalty: 0 })).toEqual({});
  expect(read(JSON.parse('{"__proto__": {"temperature": 1}}'))).toEqual({});
  expect(read(null, [['general.sampling.top_k', 2n ** 70n]])).toEqual({});
});
