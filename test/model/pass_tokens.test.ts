// The most tokens of one pass, by the sizes of a model, its context and the limit of a binding.

import { expect, test } from 'vitest';
import { PASS_LENGTHS, passTokens } from '../../src/model/buffers';
import { windowReach } from '../../src/shared/kv_rows';

type Sizes = Parameters<typeof passTokens>[1];

const layersOf = (window: number | null) => [{ window }, { window: null }] as unknown as Sizes['layers'];
const SIZES_1B = { causal: true, nLayers: 16, nHeads: 32, nKvHeads: 8, headDim: 64, intermediateSize: 8192 };
const L1B: Sizes = { ...SIZES_1B, layers: layersOf(null) };
const L8B: Sizes = { ...L1B, nLayers: 32, headDim: 128, intermediateSize: 14336 };
const LARGE = 2 ** 31;
const SMALL = 2 ** 27;

test.each([
  ['1B', L1B, 8192, LARGE, 1024],
  ['a short context', L1B, 300, LARGE, 300],
  ['1B, 1 GiB of keys and values', L1B, 32768, LARGE, 1024],
  ['1B, more than that', L1B, 32769, LARGE, 2048],
  ['8B, 1 GiB', L8B, 8192, LARGE, 1024],
  ['8B, more', L8B, 8193, LARGE, 2048],
  ['8B, a context of which 2,048 tokens take long', L8B, 40000, LARGE, 1024],
  ['8B, and 1,024', L8B, 100000, LARGE, 512],
  ['8B, and 512: they were never fewer', L8B, 1000000, LARGE, 512],
  ['8B, more, where a binding is small', L8B, 8193, SMALL, 1024],
  ['the widest', { ...L1B, intermediateSize: 16384 }, 8192, SMALL, 1024],
  ['a wider one', { ...L1B, intermediateSize: 16385 }, 8192, LARGE, 512],
  ['a wider one, more than 1 GiB', { ...L1B, intermediateSize: 16385 }, 32769, LARGE, 1024],
  ['layers with windows', { ...L8B, layers: layersOf(512) }, 8193, LARGE, 1024],
  ['a text without a causal mask', { ...L1B, causal: false }, 8192, LARGE, 8192],
] as const)('%s', (_, model, contextLength, bindingLimit, tokens) => {
  expect(passTokens({ bindingLimit }, model, contextLength)).toBe(tokens);
});

test('layers with windows have room for their longest pass', () => {
  expect(windowReach({ maxTokens: 0 })).toBeGreaterThanOrEqual(PASS_LENGTHS[1]);
});
