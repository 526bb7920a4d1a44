// The memory that the settings foresee for a context, against what is allocated.

import { expect, test } from 'vitest';
import type { EngineInfo } from '../../../src/engine/engine';
import { contextBytes } from '../../../src/ui/settings/context_cost';

/** Of 4 layers with 2 heads of 64 numbers, three with a window of 512, in f16. */
const ROW = 2 * 2 * 64 * 2;
const info = {
  kvCache: 'f16',
  model: { headDim: 64 },
  bytesPerToken: { weights: 1, kvPerPosition: ROW, kvInWindows: [{ positions: 511, perPosition: 3 * ROW }] },
} as EngineInfo;

test.each([
  [1000, 4 * 1000],
  [1535, 4 * 1535],
  [1536, 1536 + 3 * 1535],
  [32_768, 32_768 + 3 * 1535],
])('%i tokens: layers with a window keep it and what may reach back', (tokens, rows) => {
  expect(contextBytes(info, tokens, 'f16')).toBe(rows * ROW);
  expect(contextBytes(info, tokens, 'f32')).toBe(2 * rows * ROW);
  expect(contextBytes(info, tokens, 'q8')).toBe((rows * ROW * (64 + 4)) / 128);
});

test('without a GPU nothing is foreseen', () => {
  expect(contextBytes({ ...info, bytesPerToken: null }, 1000, 'f16')).toBeNull();
});
