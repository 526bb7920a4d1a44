// The presets of sampling, and what happens to settings when another model comes.

import { expect, test } from 'vitest';
import { standardSampling } from '../../../src/ui/settings/settings_fields';
import { forModel, presetOf, presetsFor, withoutOwn } from '../../../src/ui/settings/settings_presets';

const standard = standardSampling();
const qwen = { temperature: 0.7, topP: 0.8, topK: 20 };

test('the standard values are the balanced preset, and a model that suggests values has its own', () => {
  expect(presetOf(standard)).toBe('balanced');
  expect(presetOf({ ...standard, temperature: 0.61 })).toBeNull();
  expect(presetOf({ ...standard, maxTokens: 5, seed: 7 })).toBe('balanced');
  expect(presetsFor().map(([name]) => name)).toEqual(['precise', 'balanced', 'free']);
  expect(presetsFor({}).map(([name]) => name)).toEqual(['precise', 'balanced', 'free']);
  expect(presetsFor(qwen)[0]).toEqual(['own', { ...qwen, minP: 0, repetitionPenalty: 1 }]);
  for (const [name, values] of presetsFor(qwen)) expect(presetOf({ ...standard, ...values }, qwen)).toBe(name);
});

test('untouched settings follow the model, and chosen ones stay', () => {
  const own = forModel({ ...standard, seed: 7 }, undefined, qwen);
  expect(own).toMatchObject({ ...qwen, minP: 0, seed: 7 });
  expect(forModel(own, qwen, undefined)).toEqual({ ...standard, seed: 7 });
  expect(forModel(own, qwen, { temperature: 0.3 })).toMatchObject({ temperature: 0.3, topP: 1 });
  const chosen = { ...standard, temperature: 0.9 };
  expect(forModel(chosen, undefined, qwen)).toEqual(chosen);
  expect(forModel(standard, qwen, { temperature: 0.3 })).toEqual(standard); // balanced was chosen against the model's own
  expect(withoutOwn(own, qwen)).toEqual({ ...standard, seed: 7 });
  expect(withoutOwn(chosen, qwen)).toEqual(chosen);
});
