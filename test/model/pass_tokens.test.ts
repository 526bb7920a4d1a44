// The most tokens of one pass, by the sizes of a model and its context.

import { expect, test } from 'vitest';
import { passTokens } from '../../src/model/buffers';

type Sizes = Parameters<typeof passTokens>[0];

const layersOf = (window: number | null) => [{ window }, { window: null }] as unknown as Sizes['layers'];
const modelOf = (intermediateSize: number, window: number | null = null): Sizes => ({
  causal: true,
  intermediateSize,
  layers: layersOf(window),
});

test.each([
  ['Llama 3.2 1B', modelOf(8192), 8192, 1024],
  ['a short context', modelOf(8192), 300, 300],
  ['the widest whose activations of 1,024 tokens have 64 MiB', modelOf(16384), 8192, 1024],
  ['a wider one', modelOf(16385), 8192, 512],
  ['a context of 32,768 tokens', modelOf(14336), 32768, 1024],
  ['a longer one', modelOf(14336), 32769, 2048],
  ['a longer one of a wider model', modelOf(18944), 32769, 1024],
  ['a longer one with windows', modelOf(14336, 512), 65536, 1024],
  ['a text without a causal mask', { ...modelOf(1024), causal: false }, 8192, 8192],
] as const)('%s', (_, model, contextLength, tokens) => {
  expect(passTokens(model, contextLength)).toBe(tokens);
});
