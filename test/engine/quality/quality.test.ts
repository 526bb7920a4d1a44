// The cost of quantized activations, and of keys and values in signed bytes, on the storyteller: the GPU with q8, and the
// textbook with such keys and values, follow stories that the CPU reference tells in f32. `npm run bench -- quality` does the same for 20 stories on the machine's GPU.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CpuLlama } from '../../../src/cpu/llama';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { testGpu } from '../../gpu/test_device';
import { openStoryteller } from '../storyteller';
import { compareSpeakers, type Speaker, speakerOf } from './quality';
import { asF32 } from './quality_tensors';

const FIXTURE = new URL('../../fixtures/storyteller/greedy.json', import.meta.url);
const [{ promptIds: PROMPT }]: { promptIds: number[] }[] = JSON.parse(readFileSync(FIXTURE, 'utf8'));
const CONTEXT = 128;
/** Enough for a software GPU: seconds to compile, tenths of a second for a token. */
const TIMEOUT_MS = 300_000;

/** Both integer formats in one model, in half the time of two models: the file's Q8_0, and Q4_0 in the MLP. */
async function open(): Promise<{ f32: Speaker; q8: Speaker; kvQ8: Speaker }> {
  const { files } = await openStoryteller();
  const config = readConfig(files);
  const stored = resolveTensors(files, config);
  const layers = stored.layers.map((layer) => {
    const { wGate, wUp, wDown } = layer;
    return { ...layer, wGate: asF32(wGate), wUp: asF32(wUp), wDown: asF32(wDown) };
  });
  const tensors = { ...stored, layers };
  const cpuWeights = await loadCpuWeights(tensors, undefined, 'q4');
  const [f32, kvQ8] = (['f32', 'q8'] as const).map((kvType): Speaker => {
    const cpu = new CpuLlama(config, cpuWeights, CONTEXT, kvType);
    return {
      begin: async (ids) => cpu.prefill(ids, 0),
      follow: async (id, position) => cpu.forward(id, position),
    };
  });
  const gpu = await testGpu();
  const { weights, read } = await allocateWeights(gpu, tensors, config, 'q4');
  const [{ qkv, o, gateUp, down }] = weights.layers;
  const formats = [qkv, o, gateUp, down, weights.head].map(({ matrix }) => matrix.parts[0].format);
  expect(formats).toEqual(['q8', 'q8', 'q4', 'q4', 'q8']);
  const llama = await Llama.create(gpu, config, weights, {
    contextLength: CONTEXT,
    kvType: 'f16',
    attention: 'fused_decode',
    activations: 'q8',
  });
  expect(llama.activations).toBe('q8');
  await read(files);
  llama.start(weights);
  return { f32, q8: speakerOf(llama), kvQ8 };
}

const TOKENS = 24;

const STORY = { prompt: PROMPT, seed: 0, maxTokens: TOKENS, eosIds: [] };
const speakers = open();
speakers.catch(() => {}); // the tests tell

test('with keys and values in signed bytes the storyteller says what it says on f32', async () => {
  const { f32, kvQ8 } = await speakers;
  const { ratio, agreement, divergence } = await compareSpeakers(f32, kvQ8, [STORY]);
  expect(ratio).toBeLessThan(1.001);
  expect(agreement).toBeGreaterThanOrEqual(0.99);
  // Over 240 tokens of four stories: 8.5e-6 nats, perplexity 0.99994 times that of f32, agreement 99.6 %.
  expect(divergence).toBeLessThan(3e-5);
  expect(divergence).toBeGreaterThan(1e-7); // there were bytes in the cache
});

test('on q8 activations the storyteller says what it says on f32', { timeout: TIMEOUT_MS }, async () => {
  const { f32, q8 } = await speakers;
  const quality = await compareSpeakers(f32, q8, [STORY]);
  const { tokens, perplexity, ratio, agreement, divergence, flips } = quality;
  expect(tokens).toBe(TOKENS);
  expect(perplexity.reference).toBeGreaterThan(1.5); // a story, not a repetition
  expect(perplexity.reference).toBeLessThan(10);
  expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
  expect(agreement, JSON.stringify(flips)).toBeGreaterThanOrEqual(0.99);
  // Far below 0.01 nats, which are 1 % of perplexity. Measured: 1.7e-5; with one bit less four times as much.
  expect(divergence).toBeLessThan(4e-5);
  expect(divergence).toBeGreaterThan(1e-7); // the model ran on signed bytes
});
