// The forward pass against transformers: logits of every position, and greedy ids.

import { describe, expect, test } from 'vitest';
import { CpuLlama } from '../../src/cpu/llama';
import { argmax } from '../../src/cpu/sample';
import { ARCHITECTURE_CONTEXT, architectureNames, fixtureNames, loadFixture, readFixture } from './fixtures';
import { maxError, standardDeviation } from './logit_errors';

/** Largest error of a logit as a share of the logits' standard deviation. Both sides round activations to f32. */
const BOUND = 1e-4;

test('there are fixtures', () => {
  expect(fixtureNames.length).toBeGreaterThanOrEqual(5);
  expect(architectureNames.length).toBeGreaterThanOrEqual(15);
});

describe.each([...fixtureNames, ...architectureNames])('%s', async (name) => {
  const { inputIds, logits, greedy } = readFixture(name);
  const { config, weights } = await loadFixture(name);
  const isArchitecture = architectureNames.includes(name);
  const contextLength = isArchitecture ? ARCHITECTURE_CONTEXT : 64;
  const spread = standardDeviation(logits);

  test(`logits are within ${BOUND} of their spread at ${inputIds.length} positions`, () => {
    const llama = new CpuLlama(config, weights, contextLength);
    let worst = 0;
    for (const [t, id] of inputIds.entries()) worst = Math.max(worst, maxError(llama.forward(id, t), logits[t]));
    expect(worst / spread).toBeLessThan(BOUND);
  });

  // A rewind does not depend on the architecture, so the plain fixtures are enough.
  if (!isArchitecture) {
    test('prefill gives the logits of the last token, and a rewind forgets what came after', () => {
      const llama = new CpuLlama(config, weights, contextLength);
      const last = inputIds.length - 1;
      expect(maxError(llama.prefill(inputIds, 0), logits[last]) / spread).toBeLessThan(BOUND);
      for (let t = 20; t < 30; t++) llama.forward((inputIds[t] + 1) % config.vocabSize, t);
      expect(maxError(llama.prefill(inputIds.slice(20), 20), logits[last]) / spread).toBeLessThan(BOUND);
    });
  }

  test(`greedy decoding gives the same ${greedy.ids.length} ids`, () => {
    const llama = new CpuLlama(config, weights, contextLength);
    let next = argmax(llama.prefill(greedy.promptIds, 0));
    const ids = [next];
    while (ids.length < greedy.ids.length) {
      next = argmax(llama.forward(next, greedy.promptIds.length + ids.length - 1));
      ids.push(next);
    }
    expect(ids).toEqual(greedy.ids);
  });
});

test('a token outside the vocabulary, a position outside the context and an empty prefill are refused', async () => {
  const { config, weights } = await loadFixture(fixtureNames[0]);
  const llama = new CpuLlama(config, weights, 8);
  expect(() => llama.forward(config.vocabSize, 0)).toThrow(`Token ${config.vocabSize}`);
  expect(() => llama.forward(-1, 0)).toThrow('Token -1');
  expect(() => llama.forward(0, 8)).toThrow('Position 8');
  expect(() => llama.prefill([], 0)).toThrow('at least one token');
});

test('interleaved rotary gives the same logits when the rows of Wq and Wk are permuted to match', async () => {
  const { inputIds, logits } = readFixture('f16_group1_hd32_tied');
  const { config, weights } = await loadFixture('f16_group1_hd32_tied');
  const layers = weights.layers.map((layer) => ({
    ...layer,
    wq: interleaveRows(layer.wq, config.headDim, config.hiddenSize),
    wk: interleaveRows(layer.wk, config.headDim, config.hiddenSize),
  }));
  const llama = new CpuLlama({ ...config, rotary: 'interleaved' }, { ...weights, layers }, 64);
  const error = maxError(llama.prefill(inputIds, 0), logits[inputIds.length - 1]);
  expect(error / standardDeviation(logits)).toBeLessThan(BOUND);
});

/** Reorders Wq and Wk as the conversion to GGUF does: row j of a head to 2 j, row j + head_dim / 2 to 2 j + 1. */
function interleaveRows(weight: Float32Array, headDim: number, nIn: number): Float32Array {
  const permuted = new Float32Array(weight.length);
  for (let row = 0; row < weight.length / nIn; row++) {
    const j = row % headDim;
    const to = row - j + (j < headDim / 2 ? 2 * j : 2 * (j - headDim / 2) + 1);
    permuted.set(weight.subarray(row * nIn, (row + 1) * nIn), to * nIn);
  }
  return permuted;
}
