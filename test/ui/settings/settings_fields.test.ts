// The fields of the settings dialog, and the numbers that a reader types.

import { expect, test } from 'vitest';
import {
  DIALOG_FIELDS,
  readNumber,
  SAMPLING_FIELDS,
  standardSampling,
  toOptions,
} from '../../../src/ui/settings/settings_fields';

test('numbers are brought into range, and no number means the default', () => {
  const [temperature, topK] = SAMPLING_FIELDS;
  expect(readNumber(temperature!, '0.35')).toBe(0.35);
  expect(readNumber(temperature!, '-3')).toBe(0);
  expect(readNumber(temperature!, '')).toBe(0.6);
  expect(readNumber(topK!, '10.6')).toBe(11);
  expect(readNumber(topK!, 'many')).toBe(40);
});

test('empty fields leave the choice to the engine', () => {
  const options = toOptions(standardSampling());
  const penalties = { repetitionPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 };
  expect(options).toEqual({ temperature: 0.6, topK: 40, topP: 0.9, minP: 0.05, ...penalties });
});

test('the dialog has every sampling parameter, and the load settings in order', () => {
  expect(SAMPLING_FIELDS.map(({ key }) => key)).toEqual([...Object.keys(standardSampling())]);
  expect(DIALOG_FIELDS.map(({ name }) => name)).toEqual([
    'context',
    'attention',
    'kv',
    'quantize',
    'activations',
    'step',
    'backend',
  ]);
});
