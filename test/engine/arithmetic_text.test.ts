// The arithmetic of a model in words.

import { expect, test } from 'vitest';
import { arithmeticText } from '../../src/engine/arithmetic_text';

test.each([
  ['f32', 'f32', 'f32'],
  ['q8', 'q8', 'q8'],
  ['q8', 'f32', 'q8, prefill f32'],
  ['f32', 'q8', 'f32, prefill q8'],
] as const)('decode in %s, prefill in %s: %s', (decode, prefill, text) => {
  const arithmetic = { decode, prefill, cause: 'raced', reason: 'measured', race: null } as const;
  const activations = decode === 'f32' && prefill === 'f32' ? 'f32' : 'q8';
  expect(arithmeticText({ activations, arithmetic })).toBe(text);
  expect(arithmeticText({ activations })).toBe(activations);
});
