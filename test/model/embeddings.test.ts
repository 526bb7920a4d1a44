// The vectors of texts on the CPU and the GPU against those of sentence-transformers (test/fixtures/embeddings).

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Backend } from '../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import { WebGpuBackend } from '../../src/engine/backend/webgpu_backend';
import { loadModel } from '../../src/engine/load/load';
import { embed } from '../../src/engine/worker/embed';
import { readConfig } from '../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import { createTokenizer } from '../../src/text/any_tokenizer';
import { PATHS, pathName, testGpu } from '../gpu/test_device';
import { openAsGguf } from './fixtures/architectures_gguf';
import { chosenFolder } from './fixtures/files';

const ROOT = new URL('../fixtures/embeddings/', import.meta.url).pathname;
const NAMES = ['qwen3_embedding', 'embedding_gemma'] as const;
const CONTEXT = 400;
const TIMEOUT_MS = 180_000; // most of it compiling

/** Least cosine with the vectors of sentence-transformers; f32 throughout, or quantized weights and f16 caches. */
const EXACT = 0.999999;
const QUANTIZED = 0.995;

async function open(name: string) {
  const files = await openModel(chosenFolder(ROOT + name));
  const config = readConfig(files);
  return { files, config, tensors: resolveTensors(files, config), tokenizer: createTokenizer(files) };
}

function readExpected(name: string): { texts: string[]; ids: number[][]; vectors: Float32Array[] } {
  const { texts, ids } = JSON.parse(readFileSync(`${ROOT}${name}/expected.json`, 'utf8'));
  const file = new Uint8Array(readFileSync(`${ROOT}${name}/expected.safetensors`));
  const begin = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
  const all = new Float32Array(file.slice(begin).buffer);
  const size = all.length / texts.length;
  return { texts, ids, vectors: ids.map((_: unknown, i: number) => all.subarray(i * size, (i + 1) * size)) };
}

async function cpuBackend(name: string, from: 'folder' | 'gguf' = 'folder'): Promise<Backend> {
  const { files: folder } = await open(name);
  const files = from === 'gguf' ? await openAsGguf(folder) : folder;
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
}

async function gpuBackend(
  name: string,
  without: (typeof PATHS)[number],
  options: Partial<LlamaOptions> & { quantize?: QuantizedFormat } = {},
): Promise<Backend> {
  const gpu = await testGpu(without);
  const { files, config, tensors } = await open(name);
  const { weights, read } = await allocateWeights(gpu, tensors, config, options.quantize);
  const usual = { contextLength: CONTEXT, kvType: 'f32', attention: 'auto' } as const;
  const llama = await Llama.create(gpu, config, weights, { ...usual, ...options });
  await read(files);
  llama.start(weights);
  return new WebGpuBackend(gpu, llama);
}

async function vectorsOf(name: string, backend: Backend, dimensions?: number): Promise<Float32Array[]> {
  const { tokenizer, config } = await open(name);
  const session = { backend, tokenizer, template: null, vocabSize: config.vocabSize, cachedIds: [1] };
  const { texts, ids } = readExpected(name);
  const { vectors, promptTokens } = await embed(session, texts, { dimensions }, () => false);
  expect(promptTokens).toBe(ids.flat().length);
  expect(session.cachedIds).toEqual([]);
  return vectors;
}

/** The least cosine of vectors with those expected, whose first numbers count where vectors are shorter. */
function leastCosine(vectors: readonly Float32Array[], expected: readonly Float32Array[]): number {
  expect(vectors.length).toBe(expected.length);
  const cosines = vectors.map((a, i) => {
    const b = expected[i].subarray(0, a.length);
    const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, d) => sum + value * y[d], 0);
    expect(dot(a, a)).toBeCloseTo(1, 5);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  });
  return Math.min(...cosines);
}

describe.each(NAMES)('%s', (name) => {
  const { texts, ids, vectors: expected } = readExpected(name);

  test('the tokenizer gives the same ids, special tokens included', async () => {
    const { tokenizer } = await open(name);
    expect(texts.map((text) => [...tokenizer.encode(text, { addSpecialTokens: true })])).toEqual(ids);
  });

  test(`vectors on the CPU have a cosine of ${EXACT} or more`, async () => {
    expect(leastCosine(await vectorsOf(name, await cpuBackend(name)), expected)).toBeGreaterThan(EXACT);
  });

  test('the same model as a GGUF gives the same vectors', async () => {
    expect(leastCosine(await vectorsOf(name, await cpuBackend(name, 'gguf')), expected)).toBeGreaterThan(EXACT);
  });

  test('a load says what the vectors are, and needs no chat template', async () => {
    const { signal } = new AbortController();
    const { info, session } = await loadModel(chosenFolder(ROOT + name), { backend: 'cpu' }, () => {}, signal);
    const isGemma = name === 'embedding_gemma';
    expect(info.embeddings).toEqual({ pooling: isGemma ? 'mean' : 'last', size: 64, only: isGemma });
    expect(info.hasChatTemplate).toBe(false);
    const { vectors } = await embed(session, [texts[1]], {}, () => false);
    expect(leastCosine(vectors, [expected[1]])).toBeGreaterThan(EXACT);
  });

  test('vectors of fewer dimensions are the first numbers, normalized again', async () => {
    const vectors = await vectorsOf(name, await cpuBackend(name), 16);
    expect(vectors.map(({ length }) => length)).toEqual(texts.map(() => 16));
    expect(leastCosine(vectors, expected)).toBeGreaterThan(EXACT);
  });

  // One path each. The q8 test below has the other one of Gemma; pooling and attention without a causal mask have tests
  // on both paths, and so have the layers of Qwen 3 and Gemma 3 in architectures.test.ts.
  const without = PATHS[name === 'embedding_gemma' ? 1 : 0];
  test(
    `vectors on the GPU have a cosine of ${EXACT} or more, ${pathName(without)}`,
    async () => {
      const backend = await gpuBackend(name, without);
      expect(leastCosine(await vectorsOf(name, backend), expected)).toBeGreaterThan(EXACT);
    },
    TIMEOUT_MS,
  );

  test(
    'with weights and activations in q8 and an f16 cache they stay close',
    async () => {
      const options = { quantize: 'q8', activations: 'q8', kvType: 'f16' } as const;
      const cosine = leastCosine(await vectorsOf(name, await gpuBackend(name, [], options)), expected);
      expect(cosine).toBeGreaterThan(QUANTIZED);
      expect(cosine).toBeLessThan(EXACT);
    },
    TIMEOUT_MS,
  );
});
