// Models of the benches that no file describes: their bytes, their prompts, and what is refused before it is allocated.

import { expect, test } from 'vitest';
import { seededPrompt, seededTokenizer } from '../../../bench/page/synthetic/seeded_tokenizer';
import {
  checkFits,
  matrixShapes,
  modelBytes,
  prefillOperations,
  stepBytes,
  syntheticConfig,
  weightScale,
} from '../../../bench/page/synthetic/synthetic_config';
import { syntheticWeights } from '../../../bench/page/synthetic/synthetic_weights';
import { halfToNumber } from '../../../src/cpu/half';
import { GpuMemoryError } from '../../../src/errors';
import type { WeightMatrix } from '../../../src/kernels/linear/weight_format';
import type { ModelConfig } from '../../../src/model/config/config';
import { testGpu } from '../../gpu/test_device';
import { readRows } from '../../kernels/matrix';

const total = (bytes: Map<string, number>) => [...bytes.values()].reduce((sum, each) => sum + each, 0);

/** The counts of their publishers: every matrix, every norm, a tied embedding once. */
for (const [name, parameters] of [
  ['storyteller', 14_162_304],
  ['smollm2-135m', 134_515_008],
  ['llama-3.2-1b', 1_235_814_400],
  ['llama-3.1-8b', 8_030_261_248],
] as const) {
  test(`${name} has the parameters of its namesake`, () => {
    const config = syntheticConfig(name, 512);
    const norms = (2 * config.nLayers + 1) * config.hiddenSize;
    const matrices = matrixShapes(config).reduce((sum, { rows, cols, count }) => sum + rows * cols * count, 0);
    const embedding = config.tiedEmbedding ? 0 : config.vocabSize * config.hiddenSize;
    expect(matrices + norms + embedding).toBe(parameters);
  });
}

test('a step reads every matrix but the embedding once, norms, one row of the embedding, and the keys and values so far', () => {
  const matrices = 1_235_814_400 - 33 * 2048;
  const config = syntheticConfig('llama-3.2-1b', 512);
  const bytes = stepBytes(config, 'q4', 'f16', 768);
  expect(total(bytes) - (bytes.get('attention') ?? 0)).toBe(matrices * 0.5625 + 4 * 33 * 2048 + 2048 * 0.5625);
  expect(bytes.get('attention')).toBe(16 * 2 * 8 * 64 * 2 * 768);
  expect(stepBytes(config, 'f16', 'f32', 768).get('attention')).toBe(2 * (bytes.get('attention') ?? 0));
  expect(stepBytes(config, 'q8', 'f16', 768).get('head')).toBe(128256 * 2048 * 1.0625 + 4 * 2048);
});

test('a shape whose rows are no whole blocks of 256 is refused in such a format', () => {
  const config = syntheticConfig('smollm2-135m', 512);
  expect(() => checkFits(config, 'q4_k', 'f16', 512, 2 ** 30)).toThrow('rows of qkv have 576');
  expect(() => checkFits(syntheticConfig('llama-3.2-1b', 512), 'q4_k', 'f16', 512, 2 ** 30)).not.toThrow();
});

for (const quant of ['q4_k', 'q5_k', 'q6_k'] as const) {
  test(`${quant} weights made on the GPU are 0 on average, and as large as the others`, async () => {
    const gpu = await testGpu();
    const wide = { ...TINY, nLayers: 1, hiddenSize: 256, intermediateSize: 256, nHeads: 8, vocabSize: 512 };
    const { head } = await syntheticWeights(gpu, wide, quant);
    const values = await readRows(gpu, head.matrix);
    const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / values.length);
    expect(deviation * Math.sqrt(256)).toBeGreaterThan(0.4);
    expect(deviation * Math.sqrt(256)).toBeLessThan(0.6);
    expect(Math.abs(mean)).toBeLessThan(0.05 * deviation);
    expect(gpu.failure).toBeNull();
  });
}

test('operations of a prefill: two a weight and token, attention without the future', () => {
  const config = syntheticConfig('storyteller', 512);
  const [layer, qkv, nLayers] = [12_582_912 / 8, 384 * (384 + 2 * 2 * 64), 8];
  // The last layer has one token behind q, k and v.
  const weights = (nLayers - 1) * layer * 3 + qkv * 3 + (layer - qkv);
  const attention = 6 * (2 * 64 + 2 * 64) * ((nLayers - 1) * (1 + 2 + 3) + 3);
  expect(prefillOperations(config, 3)).toBe(2 * weights + 2 * 4096 * 384 + attention);
  expect(prefillOperations(config, 1)).toBe(2 * nLayers * layer + 2 * 4096 * 384 + nLayers * 6 * (2 * 64 + 2 * 64));
});

test('what no binding holds is refused with the bytes; matrices may come in parts', () => {
  const config = syntheticConfig('llama-3.1-8b', 600_000);
  const keys = 8 * 128 * 2 * 600_000;
  expect(() => checkFits(config, 'q4', 'f16', 600_000, 2 ** 30)).toThrow(GpuMemoryError);
  expect(() => checkFits(config, 'q4', 'f16', 600_000, 2 ** 30)).toThrow(
    `needs ${keys} bytes; this GPU grants ${2 ** 30}`,
  );
  expect(() => checkFits(config, 'f16', 'f16', 1024, 2 ** 28)).not.toThrow();
  expect(() => checkFits(config, 'f16', 'f16', 1024, 2 ** 18)).toThrow('A part of the qkv matrix needs 524288 bytes');
});

test('prompts are the same for the same seed, and share all but their own last ids with those of other seeds', () => {
  const { encode, eosIds } = seededTokenizer(4096);
  const [a, again, b] = [1, 1, 2].map((seed) => encode(seededPrompt(50, 10, seed)));
  expect([a.length, eosIds]).toEqual([50, []]);
  expect(again).toEqual(a);
  expect(b.subarray(0, 40)).toEqual(a.subarray(0, 40));
  expect(b[40]).not.toBe(a[40]);
  expect(Math.max(...a)).toBeLessThan(4096);
  expect(new Set(a).size).toBeGreaterThan(40);
});

const TINY: ModelConfig = {
  ...syntheticConfig('storyteller', 64),
  nLayers: 2,
  hiddenSize: 64,
  intermediateSize: 96,
  nHeads: 2,
  nKvHeads: 1,
  headDim: 32,
  vocabSize: 4096,
  tiedEmbedding: false,
};

for (const quant of ['q4', 'q8', 'f16'] as const) {
  test(`${quant} weights are made on the GPU: random everywhere, scales small and above zero, norms 1`, async () => {
    const gpu = await testGpu();
    const before = gpu.allocatedBytes;
    const made = await syntheticWeights(gpu, TINY, quant);
    expect(gpu.allocatedBytes - before).toBe(made.bytes); // nothing that filled them is left
    expect(made.bytes / modelBytes(TINY, quant, 'f16', 64, 2 ** 27).weights).toBeCloseTo(1, 2);

    const words = async ({ parts: [{ weights }] }: WeightMatrix) => new Uint32Array(await gpu.read(weights));
    const [first, second] = await Promise.all(made.layers.map(({ gateUp }) => words(gateUp.matrix)));
    const head = await words(made.head.matrix);
    const embedding = await words(made.embedding);
    expect(new Set(first).size).toBeGreaterThan(0.9 * first.length);
    expect(head.filter((word) => word === 0).length).toBeLessThan(0.01 * head.length);
    expect(first).not.toEqual(second);
    expect(embedding).not.toEqual(head);

    const nibbles = first.reduce((sum, word) => sum + (word & 15) + ((word >>> 16) & 15), 0) / (2 * first.length);
    if (quant === 'q4') expect(nibbles).toBeGreaterThan(7.75); // which stands for 0: nothing drifts

    const { matrix, params } = made.layers[0].qkv;
    expect(new Float32Array(await gpu.read(params))).toEqual(new Float32Array(64).fill(1));
    const { weights, scales } = matrix.parts[0];
    const halves = Array.from(new Uint16Array(await gpu.read(quant === 'f16' ? weights : scales)), halfToNumber);
    const scale = weightScale(quant, matrix.cols);
    const [least, most] = quant === 'f16' ? [-scale, scale] : [scale / 2, 1.5 * scale];
    expect(Math.min(...halves) / least).toBeCloseTo(1, 1);
    expect(Math.max(...halves) / most).toBeCloseTo(1, 1);
  });
}
