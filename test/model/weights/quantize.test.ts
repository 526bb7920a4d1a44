// Models that the load quantizes: their weights, and the formats in info. gguf.test.ts checks the logits.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { loadModel } from '../../../src/engine/load/load';
import type { LoadOptions } from '../../../src/engine/protocol';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { relativeError } from '../../close';
import { STORYTELLER } from '../../engine/storyteller';
import { testGpu } from '../../gpu/test_device';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import { droppedFolder } from '../fixtures/files';
import { modelFile, type Variant } from '../fixtures/tiny_gguf';

async function open(variant: Variant) {
  const files = await openModel(modelFile(variant));
  const config = readConfig(files);
  return { files, config, tensors: resolveTensors(files, config) };
}

test('every matrix is quantized, by at most half a step or a clipped one; norms and biases are not', async () => {
  const { tensors } = await open({ format: 'f16', biased: true });
  const plain = await loadCpuWeights(tensors);
  for (const [quantize, most] of [
    ['q8', 1 / 254],
    ['q4', 1 / 8],
  ] as const) {
    const weights = await loadCpuWeights(tensors, undefined, quantize);
    const lost = (a: Float32Array, b: Float32Array) => {
      expect(relativeError(a, b)).toBeGreaterThan(most / 4);
      expect(relativeError(a, b)).toBeLessThan(most + 2 ** -11); // the scale is rounded, too
    };
    lost(weights.embedding, plain.embedding);
    lost(weights.head, plain.head);
    for (const [i, layer] of weights.layers.entries()) {
      const { wq, wk, wv, wo, wGate, wUp, wDown, ...vectors } = layer;
      for (const [name, matrix] of Object.entries({ wq, wk, wv, wo, wGate, wUp, wDown })) {
        lost(matrix, plain.layers[i][name as 'wq']);
      }
      expect(vectors).toEqual(
        Object.fromEntries(Object.keys(vectors).map((name) => [name, plain.layers[i][name as 'bq']])),
      );
    }
    expect(weights.finalNorm).toEqual(plain.finalNorm);
  }
});

describe('loading', () => {
  const load = (location: File[], options: LoadOptions) =>
    loadModel(location, { backend: 'cpu', contextLength: 32, ...options }, () => {}, new AbortController().signal);
  const fixture = () => [
    ...droppedFolder(new URL('../../fixtures/llama/f16_group1_hd32_tied', import.meta.url).pathname),
    new File([JSON.stringify(byteLevelJson())], 'tokenizer.json'),
  ];

  test('info names the format of the file and what runs', async () => {
    expect((await load(fixture(), {})).info.model.format).toBe('F16');
    const { info } = await load(fixture(), { quantize: 'q4' });
    expect(info.model.format).toBe('F16, quantized to Q4_0');
    expect(info.warnings.map(({ code }) => code)).not.toContain('quantize-ignored');
    expect((await load(fixture(), { quantize: 'q8' })).info.model.format).toBe('F16, quantized to Q8_0');
  });

  test('matrices that are quantized already stay as they are, with a warning', async () => {
    const file = new File([readFileSync(STORYTELLER)], 'storyteller-q8_0.gguf');
    const { info } = await load([file], { quantize: 'q4' });
    expect(info.model.format).toMatch(/^[^,]*Q8_0[^,]*$/);
    const warning = info.warnings.find(({ code }) => code === 'quantize-ignored');
    expect(warning?.message).toMatch(/quantized already \(.*Q8_0.*\); they stay as they are/);
  });

  test('another value is refused before anything is read', async () => {
    for (const quantize of ['q5', '', 'Q4', 4, null]) {
      const loading = load([new File([], 'model.gguf')], { quantize } as unknown as LoadOptions);
      await expect(loading).rejects.toMatchObject({ code: 'invalid-request' });
      await expect(loading).rejects.toThrow(`quantize must be none, q8 or q4, got ${quantize}.`);
    }
  });
});

test('on the GPU a quantized model takes the bytes of its quantized planes', async () => {
  const gpu = await testGpu();
  const bytes = async (variant: Variant, quantize?: QuantizedFormat) => {
    const { config, tensors } = await open(variant);
    return (await allocateWeights(gpu, tensors, config, quantize)).weights.bytes;
  };
  const q4 = await bytes({ format: 'q4' });
  expect(await bytes({ format: 'f16' }, 'q4')).toBe(q4);
  expect(await bytes({ format: 'q8' }, 'q4')).toBe(await bytes({ format: 'q8' }));
  expect(await bytes({ format: 'f16' })).toBeGreaterThan(3 * q4);
});
