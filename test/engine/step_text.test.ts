// The decode step in words.

import { expect, test } from 'vitest';
import type { StepChoice } from '../../src/engine/protocol';
import { stepText } from '../../src/engine/step_text';

test.each<[StepChoice['name'], number | null, number, string]>([
  ['plain', null, 0, 'plain'],
  ['fused', null, 0, 'fused'],
  ['fused', 0.38, 0, 'fused, 38% faster than plain here'],
  ['fused', 1.5, 0, 'fused, 150% faster than plain here'],
  ['fused', -0.2, 0, 'fused, 20% slower than plain here'],
  ['plain', 0.031, 0, 'plain, fused is 3.1% faster here'],
  ['plain', -0.25, 0, 'plain, fused is 25% slower here'],
  ['fused', 0.38, 1, 'fused, 38% faster than plain here, gave up once'],
  ['plain', null, 3, 'plain, gave up 3 times'],
])('%s with a gain of %s and %i give-ups is "%s"', (name, gain, giveUps, text) => {
  expect(stepText({ name, gain, giveUps })).toBe(text);
});
