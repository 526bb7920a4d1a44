// Every architecture as a GGUF on the CPU: the logits of its safetensors, which are those of transformers.

import { describe, expect, test } from 'vitest';
import { CpuLlama } from '../../../src/cpu/llama';
import { readConfig } from '../../../src/model/config/read';
import { openModel } from '../../../src/storage/model_file';
import type { ModelFiles } from '../../../src/storage/model_files';
import {
  ARCHITECTURE_CONTEXT,
  architectureNames,
  fixtureFolder,
  loadFiles,
  loadFixture,
  readFixture,
} from '../../cpu/fixtures';
import { maxError, standardDeviation } from '../../cpu/logit_errors';
import { type Bytes, value, writeGguf } from '../../storage/write_gguf';
import { openAsGguf } from '../fixtures/architectures_gguf';
import { droppedFolder } from '../fixtures/files';

/** Largest error as a share of the spread of the logits: theta and the scales of a GGUF are rounded to f32. */
const BOUND = 1e-4;

/** GGUF has no dynamic scaling. */
const NAMES = [...architectureNames.filter((name) => name !== 'llama_dynamic'), 'bf16_group4_hd128_llama3'];

async function openArchitectureGguf(name: string): Promise<ModelFiles> {
  return openAsGguf(await openModel(droppedFolder(fixtureFolder(name))));
}

/** The fixture with every fourth layer without RoPE, the only SmolLM3 that llama.cpp knows. */
async function expectedLogits(name: string): Promise<Float32Array[]> {
  const { inputIds, logits } = readFixture(name);
  if (name !== 'smollm3') return logits;
  const files = await openModel(droppedFolder(fixtureFolder(name)));
  const { config, weights } = await loadFiles({ ...files, config: { ...files.config, no_rope_layers: null } });
  expect(config.layers.map(({ rope }) => rope)).toEqual([0, 0, 0, null]);
  const llama = new CpuLlama(config, weights, ARCHITECTURE_CONTEXT);
  return inputIds.map((id, t) => llama.forward(id, t));
}

describe.each(NAMES)('%s as a GGUF', (name) => {
  test(`logits are within ${BOUND} of their spread at 48 positions`, async () => {
    const { inputIds } = readFixture(name);
    const logits = await expectedLogits(name);
    const { config, weights } = await loadFiles(await openArchitectureGguf(name));
    const llama = new CpuLlama(config, weights, ARCHITECTURE_CONTEXT);
    const errors = inputIds.map((id, t) => maxError(llama.forward(id, t), logits[t]));
    expect(Math.max(...errors) / standardDeviation(logits)).toBeLessThan(BOUND);
  });

  test('the architecture and the reach are those of its config.json', async () => {
    const { config } = await loadFixture(name);
    const gguf = readConfig(await openArchitectureGguf(name));
    expect(gguf.contextLength).toBe(config.contextLength);
    expect(gguf.architecture).toBe(config.architecture === 'mistral' ? 'llama' : config.architecture);
  });
});

/** A config of the sizes and the given keys. */
async function configOf(arch: string, keys: Record<string, (out: Bytes) => void>, layers = 12) {
  const sizes = {
    block_count: value.u32(layers),
    context_length: value.u32(8192),
    embedding_length: value.u32(2048),
    feed_forward_length: value.u32(8192),
    'attention.head_count': value.u32(16),
    'attention.layer_norm_rms_epsilon': value.f32(1e-5),
    vocab_size: value.u32(32000),
  };
  const own = Object.entries({ ...sizes, ...keys });
  const bytes = writeGguf({
    keys: [
      ['general.architecture', value.string(arch)],
      ...own.map(([key, write]): [string, (out: Bytes) => void] => [`${arch}.${key}`, write]),
    ],
  });
  return readConfig(await openModel([new File([bytes], 'model.gguf')]));
}

test('Gemma 2: caps, the window and every other layer global are not in the file', async () => {
  const heads = { 'attention.key_length': value.u32(256), 'attention.value_length': value.u32(256) };
  const config = await configOf('gemma2', heads);
  expect(config).toMatchObject({ attentionSoftcap: 50, logitSoftcap: 30, attentionScale: 1 / 16, normOffset: 0 });
  expect(config.layers.slice(0, 2)).toEqual([
    { rope: 0, window: 4096 },
    { rope: 0, window: null },
  ]);
  expect((await configOf('gemma2', heads, 46)).attentionScale).toBe(128 ** -0.5);
});

test('Gemma 3: every sixth layer is global, the others turn with theta 10000', async () => {
  const config = await configOf('gemma3', {
    'rope.freq_base': value.f32(1e6),
    'attention.sliding_window': value.u32(1024),
    'rope.scaling.type': value.string('linear'),
    'rope.scaling.factor': value.f32(8),
  });
  expect(config.ropes).toEqual([
    { theta: 1e6, scaling: { type: 'linear', factor: 8 } },
    { theta: 10000, scaling: null },
  ]);
  expect(config.layers.map(({ rope }) => rope)).toEqual([1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0]);
  expect(config.layers[4].window).toBe(1024);
  expect(config.layers[5].window).toBeNull();
  const large = { 'attention.key_length': value.u32(64), 'attention.value_length': value.u32(64) };
  expect((await configOf('gemma3', large, 62)).attentionScale).toBe(128 ** -0.5);
  expect((await configOf('gemma3', large)).attentionScale).toBe(64 ** -0.5);
});

test('Gemma 3 without a window has no local layers, and so no local theta', async () => {
  const config = await configOf('gemma3', { 'rope.freq_base': value.f32(1e6) });
  expect(config.layers).toEqual(Array.from({ length: 12 }, () => ({ rope: 0, window: null })));
});

test('a factor of RoPE by its name of 2023 is linear', async () => {
  const config = await configOf('llama', { 'rope.scale_linear': value.f32(4) });
  expect(config.ropes).toEqual([{ theta: 10000, scaling: { type: 'linear', factor: 4 } }]);
});

test('a causal model that pools nothing is one that writes', async () => {
  const keys = { pooling_type: value.u32(0), 'attention.causal': value.bool(1), expert_count: value.u32(0) };
  expect((await configOf('qwen3', keys)).architecture).toBe('qwen3');
});

test('the kind of pooling is read, and a model without a causal mask only embeds', async () => {
  const qwen = await configOf('qwen3', { pooling_type: value.u32(3) });
  expect(qwen).toMatchObject({ embedding: { pooling: 'last', normalized: true, dense: [] }, embedsOnly: false });
  expect((await configOf('qwen3', { pooling_type: value.u32(1) })).embedding.pooling).toBe('mean');
  const both = await configOf('llama', { 'attention.causal': value.bool(0) });
  expect(both).toMatchObject({ causal: false, embedsOnly: true });
});

test('EmbeddingGemma sees half of its window on either side, in five of six layers', async () => {
  const keys = { 'attention.sliding_window': value.u32(512), 'rope.freq_base': value.f32(1e6) };
  const config = await configOf('gemma-embedding', keys);
  expect(config).toMatchObject({ causal: false, embedsOnly: true, qkNorm: 'heads', postNorms: true });
  expect(config.embedding).toEqual({ pooling: 'mean', normalized: true, dense: [] });
  expect(config.layers.slice(4, 6)).toEqual([
    { rope: 1, window: 257 },
    { rope: 0, window: null },
  ]);
});

test('SmolLM3 has no RoPE in every fourth layer, rows of LLaMA, Granite and SmolLM3 are neighbors', async () => {
  const config = await configOf('smollm3', {}, 5);
  expect(config.layers.map(({ rope }) => rope)).toEqual([0, 0, 0, null, 0]);
  for (const arch of ['llama', 'granite', 'smollm3']) expect((await configOf(arch, {})).rotary).toBe('interleaved');
  for (const arch of ['qwen2', 'qwen3', 'gemma2', 'gemma3', 'phi3', 'olmo2']) {
    expect((await configOf(arch, {})).rotary).toBe('half');
  }
});

describe('refusals', () => {
  const refused: [string, string, Record<string, (out: Bytes) => void>, RegExp][] = [
    ['other architectures', 'mamba', {}, /"mamba" is not supported.*llama, qwen2, .*olmo2/],
    ['experts', 'llama', { expert_count: value.u32(8) }, /mixture of experts/],
    ['rating models', 'qwen3', { pooling_type: value.u32(4) }, /rates text.*by kind 4.*mean or last pooling/],
    ['pooling of another token', 'qwen3', { pooling_type: value.u32(2) }, /by kind 2/],
    ['OLMo 3', 'olmo2', { 'attention.sliding_window': value.u32(4096) }, /OLMo 3/],
    ['values of another size', 'qwen3', { 'attention.value_length': value.u32(64) }, /Keys of 128 with values of 64/],
    ['RoPE', 'llama', { 'rope.scaling.type': value.string('mrope') }, /RoPE scaling "mrope"/],
    ['longrope without factors', 'phi3', { 'rope.scaling.type': value.string('longrope') }, /lacks the tensors/],
    ['more rotation than head', 'phi3', { 'rope.dimension_count': value.u32(130) }, /130 of the 128 elements/],
    [
      'a short pattern',
      'gemma3',
      { 'attention.sliding_window_pattern': value.array(7, 1, [1]) },
      /must be a list of 12 flags/,
    ],
    [
      'heads by layer',
      'llama',
      { 'attention.head_count_kv': value.array(4, 1, [4, 0, 0, 0]) },
      /llama.attention.head_count_kv must be/,
    ],
  ];
  for (const [what, arch, keys, message] of refused) {
    test(what, async () => expect(configOf(arch, keys)).rejects.toThrow(message));
  }
});
