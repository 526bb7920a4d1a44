// Models with sizes that are not multiples of 32, or heads not of 8, from file to logits: the GPU against the CPU
// reference, which pads nothing.

import { describe, expect, test } from 'vitest';
import { CpuLlama } from '../../src/cpu/llama';
import { loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import type { ModelConfig } from '../../src/model/config/config';
import { readConfig } from '../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../src/model/llama';
import { padColumns, padConfig, paddingOf } from '../../src/model/padding';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import type { ModelFiles } from '../../src/storage/model_files';
import { relativeError } from '../close';
import { PATHS, testGpu } from '../gpu/test_device';
import { GREEDY } from '../sampling/params';
import { cutFixture, type OddSizes } from './fixtures/odd_sizes';
import { modelFile, ODD, STORIES, type Variant } from './fixtures/tiny_gguf';

const CONTEXT = 48;
const PREFILL = 19;
const STEPS = 6;
const EXACT = 2e-5;
const QUANTIZED = 0.06;
const TIMEOUT_MS = 180_000; // most of it compiling

type Options = Partial<LlamaOptions> & { quantize?: QuantizedFormat; without?: (typeof PATHS)[number] };

/** The largest error of the logits after a prefill and after each step of the likeliest tokens. */
async function worstError(files: ModelFiles, { quantize, without, ...options }: Options): Promise<number> {
  const gpu = await testGpu(without);
  const config = readConfig(files);
  const tensors = resolveTensors(files, config);
  const cpu = new CpuLlama(config, await loadCpuWeights(tensors, undefined, quantize), CONTEXT);
  const { weights, read } = await allocateWeights(gpu, tensors, config, quantize);
  const llama = await Llama.create(gpu, config, weights, {
    contextLength: CONTEXT,
    kvType: 'f32',
    attention: 'fused_decode',
    ...options,
  });
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  const ids = Array.from({ length: PREFILL }, (_, i) => (i * 29) % config.vocabSize);
  llama.writeTokens(Uint32Array.from(ids), 0);
  llama.pass(PREFILL, 'sample', 0).run({ position: 0, nTokens: PREFILL });
  let expected = cpu.prefill(ids, 0);
  let worst = relativeError(await llama.readLogits(), expected);
  for (let position = PREFILL; position < PREFILL + STEPS; position++) {
    const next = expected.indexOf(Math.max(...expected));
    llama.writeTokens(Uint32Array.of(next), position); // in case the GPU drew another one
    llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
    expected = cpu.forward(next, position);
    worst = Math.max(worst, relativeError(await llama.readLogits(), expected));
  }
  expect(gpu.failure).toBeNull();
  expect(llama.activations).toBe(options.activations ?? 'f32');
  return worst;
}

/** gguf.test.ts has the same sizes in every plain format. */
test('f32, without subgroups and immediates', { timeout: TIMEOUT_MS }, async () => {
  const files = await openModel(modelFile({ format: 'f32' }, STORIES));
  expect(await worstError(files, { without: PATHS[1] })).toBeLessThan(EXACT);
});

// The formats of llama.cpp, which leaves rows of 172 columns unquantized. Gate and up have two formats.
test('q8 beside f16', { timeout: TIMEOUT_MS }, async () => {
  const variant: Variant = { format: 'q8', mixed: { ffn_down: 'f16', ffn_up: 'f16' } };
  const files = await openModel(modelFile(variant, STORIES));
  expect(await worstError(files, {})).toBeLessThan(EXACT);
});

test('quantized matrices whose columns are heads of odd sizes are refused by name', async () => {
  const files = await openModel(modelFile({ format: 'q8' }, { ...ODD, hidden: 96, intermediate: 96, heads: 8 }));
  const config = readConfig(files);
  const allocating = allocateWeights(await testGpu(), resolveTensors(files, config), config);
  await expect(allocating).rejects.toThrow(/attn_output\.weight: each 12 of its columns .* 16, .* in Q8_0\. Use /);
});

describe('architectures with norms of q and k, and behind attention and MLP', () => {
  const sizes = {
    hidden_size: 60,
    intermediate_size: 84,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 20,
  };
  const heads = { num_attention_heads: 3, num_key_value_heads: 1, head_dim: 12 };
  const small = { hidden_size: 64, num_attention_heads: 8, num_key_value_heads: 4, head_dim: 8 };
  const q8 = { quantize: 'q8', activations: 'q8' } as const;
  // Norms of 60 and 20 elements, with Gemma's offset of the weights, and of 60, 36 and 12. All are quantized by the
  // load.
  test.each<[string, OddSizes, Options]>([
    ['gemma3', sizes, {}],
    ['olmo2', { ...sizes, ...heads }, {}],
    ['qwen3', { ...sizes, ...small }, q8],
  ])('%s', { timeout: TIMEOUT_MS }, async (name, sizes, options) => {
    const isQ8 = options.activations === 'q8';
    const error = await worstError(await cutFixture(name, sizes), options);
    expect(error).toBeLessThan(isQ8 ? QUANTIZED : EXACT);
    if (isQ8) expect(error).toBeGreaterThan(1e-3); // otherwise nothing was quantized
  });
});

describe('sizes', () => {
  const config = {
    hiddenSize: 64,
    intermediateSize: 96,
    nHeads: 4,
    nKvHeads: 2,
    headDim: 32,
    qkNorm: 'none',
    rmsNormEps: 1e-5,
    ropes: [{ theta: 10_000, scaling: null }],
  } as unknown as ModelConfig;

  test('that fit stay, and so do weights and epsilons of norms', () => {
    const padded = padConfig(config);
    expect(padded).toMatchObject({ ...config, ropes: [{ rotaryDim: 32 }], qkNormEps: 1e-5 });
    const { hidden, q, hiddenTimes, qkTimes } = paddingOf(config, padded);
    expect([hidden, q]).toEqual([
      { stored: 64, padded: 64, size: 64 },
      { stored: 128, padded: 128, size: 128 },
    ]);
    expect([hiddenTimes, qkTimes]).toEqual([1, 1]);
  });

  test('grow to the next multiple; heads come by whole groups', () => {
    const odd = { ...config, hiddenSize: 33, intermediateSize: 172, nHeads: 6, headDim: 20 };
    const padded = padConfig(odd);
    expect(padded).toMatchObject({ hiddenSize: 64, intermediateSize: 192, nHeads: 12, nKvHeads: 4, headDim: 24 });
    expect(padded.ropes[0].rotaryDim).toBe(20);
    expect(padded.rmsNormEps).toBeCloseTo((1e-5 * 33) / 64, 12);
    expect(padConfig(padded)).toMatchObject({ hiddenSize: 64, intermediateSize: 192, nHeads: 12, headDim: 24 });
    expect(paddingOf(odd, padded).q).toEqual({ stored: 20, padded: 24, size: 288 });
  });

  test('columns get zeros behind each run and at the end of a row', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    expect([...padColumns(bytes, 2, 4, { stored: 2, padded: 3, size: 7 })]).toEqual([
      1, 2, 0, 3, 4, 0, 0, 5, 6, 0, 7, 8, 0, 0,
    ]);
    const halves = padColumns(bytes, 2, 2, { stored: 2, padded: 3, size: 3 });
    expect([...halves]).toEqual([1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0]);
    expect(padColumns(bytes, 2, 4, { stored: 4, padded: 4, size: 4 })).toBe(bytes);
  });
});
