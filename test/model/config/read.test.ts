// Configurations from config.json, in both spellings, without the keys that real checkpoints omit.

import { describe, expect, test } from 'vitest';
import type { ModelConfig } from '../../../src/model/config/config';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import type { ModelFiles } from '../../../src/storage/model_files';
import { architectureNames, fixtureFolder } from '../../cpu/fixtures';
import { droppedFolder } from '../fixtures/files';
import { PLAIN_MODELS } from '../fixtures/published_plain';
import { SPECIAL_MODELS } from '../fixtures/published_special';

type Json = Record<string, unknown>;

const NO_FILES = { format: 'safetensors', name: 'model', tensors: new Map(), gguf: null } as unknown as ModelFiles;

function configOf(config: Json): ModelConfig {
  return readConfig({ ...NO_FILES, config });
}

const SIZES = {
  vocab_size: 32000,
  hidden_size: 2048,
  intermediate_size: 8192,
  num_hidden_layers: 4,
  num_attention_heads: 16,
  num_key_value_heads: 4,
};

const windows = (config: Json) => configOf({ ...SIZES, ...config }).layers.map(({ window }) => window);
const ropes = (config: Json) => configOf({ ...SIZES, ...config }).layers.map(({ rope }) => rope);

describe('both spellings of a fixture give the same config', () => {
  for (const name of architectureNames) {
    test(name, async () => {
      const files = droppedFolder(fixtureFolder(name));
      const spelled = async (file: string) => {
        const config = files.find((candidate) => candidate.name === file) as File;
        const others = files.filter((candidate) => !candidate.name.startsWith('config'));
        return readConfig(await openModel([...others, new File([config], 'config.json')]));
      };
      expect(await spelled('config.classic.json')).toEqual(await spelled('config.json'));
    });
  }
});

describe('published models are read as transformers reads them', () => {
  test.each([...PLAIN_MODELS, ...SPECIAL_MODELS])('$name', ({ config, expected, layers }) => {
    const read = configOf(config);
    expect(read).toMatchObject(expected);
    expect(read.layers.slice(0, layers.length).map(({ window, rope }) => [window, rope])).toEqual(layers);
  });
});

test('LLaMA: what is left out is plain', () => {
  expect(configOf({ model_type: 'llama', ...SIZES })).toMatchObject({
    headDim: 128,
    ropes: [{ theta: 10000, scaling: null }],
    layers: Array.from({ length: 4 }, () => ({ rope: 0, window: null })),
    contextLength: 2048,
    tiedEmbedding: false,
    qkvBias: false,
    activation: 'silu',
    attentionScale: 128 ** -0.5,
  });
});

test('Mistral: a window left out is 4096, a window of null is none', () => {
  expect(windows({ model_type: 'mistral' })).toEqual([4096, 4096, 4096, 4096]);
  expect(windows({ model_type: 'mistral', sliding_window: null })).toEqual([null, null, null, null]);
  expect(configOf({ model_type: 'mistral', ...SIZES, head_dim: null }).headDim).toBe(128);
});

test('Qwen 2 and 3: windows count only with use_sliding_window, and from max_window_layers on', () => {
  const qwen = { model_type: 'qwen2', sliding_window: 512, max_window_layers: 3 };
  expect(windows(qwen)).toEqual([null, null, null, null]);
  expect(windows({ ...qwen, use_sliding_window: true })).toEqual([null, null, null, 512]);
  expect(windows({ ...qwen, sliding_window: null, max_window_layers: null })).toEqual([null, null, null, null]);
  expect(configOf({ ...SIZES, ...qwen })).toMatchObject({ qkvBias: true, outputBias: false, qkNorm: 'none' });
  expect(configOf({ ...SIZES, model_type: 'qwen3' })).toMatchObject({ qkvBias: false, qkNorm: 'heads', headDim: 128 });
});

test('SmolLM3: every fourth layer is without RoPE unless no_rope_layers says otherwise', () => {
  expect(ropes({ model_type: 'smollm3' })).toEqual([0, 0, 0, null]);
  expect(ropes({ model_type: 'smollm3', no_rope_layer_interval: 2 })).toEqual([0, null, 0, null]);
  expect(ropes({ model_type: 'smollm3', no_rope_layers: [0, 1, 1, 1] })).toEqual([null, 0, 0, 0]);
  expect(configOf({ ...SIZES, model_type: 'smollm3' })).toMatchObject({ tiedEmbedding: true, ropes: [{ theta: 2e6 }] });
});

test('sizes need not be multiples of 32: the smallest of karpathy’s tinyllamas', () => {
  const sizes = { hidden_size: 64, intermediate_size: 172, num_attention_heads: 8, num_key_value_heads: 4 };
  const config = configOf({ model_type: 'llama', ...SIZES, ...sizes });
  expect(config).toMatchObject({ hiddenSize: 64, intermediateSize: 172, headDim: 8 });
});

test('Gemma 2: caps, scales, head_dim 256 and a window in every other layer are defaults', () => {
  expect(configOf({ model_type: 'gemma2', ...SIZES })).toMatchObject({
    headDim: 256,
    tiedEmbedding: true,
    activation: 'gelu_tanh',
    attentionSoftcap: 50,
    logitSoftcap: 30,
    attentionScale: 1 / 16,
    embeddingScale: Math.sqrt(2048),
    normOffset: 1,
    postNorms: true,
  });
  expect(windows({ model_type: 'gemma2' })).toEqual([4096, null, 4096, null]);
});

test('Gemma 3: the text part of a multimodal checkpoint with the keys left out that gemma-3-4b leaves out', () => {
  const config = configOf({
    model_type: 'gemma3',
    vision_config: { hidden_size: 1152 },
    text_config: {
      model_type: 'gemma3_text',
      hidden_size: 2560,
      intermediate_size: 10240,
      num_hidden_layers: 34,
      rope_scaling: { factor: 8, rope_type: 'linear' },
      sliding_window: 1024,
    },
  });
  expect(config).toMatchObject({
    architecture: 'gemma3',
    vocabSize: 262208,
    nHeads: 8,
    nKvHeads: 4,
    headDim: 256,
    contextLength: 131072,
    rmsNormEps: 1e-6,
    attentionScale: 1 / 16,
    attentionSoftcap: null,
    tiedEmbedding: true,
    qkNorm: 'heads',
    ropes: [
      { theta: 1e6, scaling: { type: 'linear', factor: 8 } },
      { theta: 1e4, scaling: null },
    ],
  });
  expect(config.layers.slice(4, 7)).toEqual([
    { rope: 1, window: 1024 },
    { rope: 0, window: null },
    { rope: 1, window: 1024 },
  ]);
});

test('Phi 3: RoPE on part of a head, and longrope by any of its names', () => {
  const scaling = { short_factor: Array(48).fill(1), long_factor: Array(48).fill(2) };
  for (const type of ['longrope', 'su', 'yarn']) {
    const config = configOf({
      ...SIZES,
      model_type: 'phi3',
      partial_rotary_factor: 0.75,
      max_position_embeddings: 131072,
      rope_scaling: { ...scaling, type },
    });
    expect(config.ropes[0]).toMatchObject({
      rotaryDim: 96,
      scaling: { type: 'longrope', originalContextLength: 4096, attentionFactor: Math.sqrt(1 + 5 / 12) },
    });
  }
});

test('Granite: multipliers, of which logits_scaling divides', () => {
  const granite = { attention_multiplier: 0.015625, embedding_multiplier: 12, residual_multiplier: 0.22 };
  expect(configOf({ ...SIZES, model_type: 'granite', ...granite, logits_scaling: 8 })).toMatchObject({
    attentionScale: 0.015625,
    embeddingScale: 12,
    residualScale: 0.22,
    logitScale: 0.125,
  });
});

test('OLMo 2 norms what it adds, and q and k as vectors', () => {
  expect(configOf({ ...SIZES, model_type: 'olmo2' })).toMatchObject({
    preNorms: false,
    postNorms: true,
    qkNorm: 'vector',
    rmsNormEps: 1e-5,
  });
});

test('yarn and dynamic scaling reach past max_position_embeddings', () => {
  const llama = { ...SIZES, model_type: 'llama', max_position_embeddings: 4096 };
  const reach = (rope_scaling: Json) => configOf({ ...llama, rope_scaling }).contextLength;
  expect(reach({ type: 'dynamic', factor: 2 })).toBe(8192);
  expect(reach({ type: 'yarn', factor: 4, original_max_position_embeddings: 4096 })).toBe(16384);
  expect(reach({ type: 'yarn', factor: 4, original_max_position_embeddings: 1024 })).toBe(4096);
  expect(reach({ type: 'linear', factor: 4 })).toBe(4096);
});

test('yarn takes its attention factor from the file, from two mscales, or from the factor', () => {
  const yarn = (rope: Json) =>
    configOf({ ...SIZES, model_type: 'llama', rope_scaling: { type: 'yarn', factor: 40, ...rope } }).ropes[0].scaling;
  expect(yarn({})).toMatchObject({ attentionFactor: 0.1 * Math.log(40) + 1, betaFast: 32, betaSlow: 1 });
  expect(yarn({ attention_factor: 1.5 })).toMatchObject({ attentionFactor: 1.5 });
  expect(yarn({ mscale: 1, mscale_all_dim: 1 })).toMatchObject({ attentionFactor: 1 });
});

test('architectures that are no names say nothing', () => {
  for (const architectures of [null, [], {}, [{ toString: 1 }], [null, 'LlamaForCausalLM']]) {
    expect(configOf({ model_type: 'llama', ...SIZES, architectures }).architecture).toBe('llama');
  }
});

describe('refusals name what is wrong and what to do', () => {
  const refused: [string, Json, RegExp][] = [
    [
      'other architectures',
      { model_type: 'bert' },
      /model_type "bert" is not supported.*Choose .*llama, mistral, .*gemma3.*olmo2/,
    ],
    [
      'other architectures, quantized too: a GGUF file would not help',
      { model_type: 'bert', quantization_config: { quant_method: 'gptq' } },
      /model_type "bert" is not supported/,
    ],
    [
      'more tokens than the sums of sampling hold',
      { vocab_size: 2 ** 20 + 1 },
      /vocab_size must be a whole number from 1 to 1048576, but is 1048577/,
    ],
    [
      'experts, quantized too',
      { num_local_experts: 8, quantization_config: { quant_method: 'gptq' } },
      /num_local_experts is 8/,
    ],
    ['no architecture', { model_type: undefined }, /there is no model_type.*Choose/],
    ['experts', { num_local_experts: 8 }, /num_local_experts is 8: a mixture of experts.*dense/],
    ['models without a causal mask', { use_bidirectional_attention: true }, /supported for Gemma 3 alone/],
    ['activations', { hidden_act: 'relu2' }, /hidden_act is "relu2".*silu, swish, gelu_pytorch_tanh/],
    ['GPTQ', { quantization_config: { quant_method: 'gptq', bits: 4 } }, /quantized by gptq.*unquantized.*GGUF/],
    ['AWQ', { quantization_config: { quant_method: 'awq' } }, /quantized by awq/],
    ['MLX', { quantization: { group_size: 64, bits: 4 } }, /quantized by an unnamed method \(quantization\).*GGUF/],
    ['bitsandbytes', { quantization_config: { load_in_4bit: true, quant_method: 'bitsandbytes' } }, /bitsandbytes/],
    [
      'classifiers',
      { model_type: 'qwen3', architectures: ['Qwen3ForSequenceClassification'] },
      /names Qwen3ForSequenceClassification.*neither writes nor embeds/,
    ],
    ['nameless formats', { quantization_config: {} }, /quantized by an unnamed method/],
    ['RoPE', { rope_scaling: { type: 'mrope' } }, /RoPE of type "mrope".*longrope are/],
    ['layer types', { model_type: 'qwen3', layer_types: ['full_attention'] }, /layer_types must be a list of 4/],
    ['no_rope_layers', { model_type: 'smollm3', no_rope_layers: [1, 2, 1, 1] }, /no_rope_layers must be a list of 4/],
    ['rotary share', { partial_rotary_factor: 1.5 }, /turns 192 of the 128/],
    ['no rotation', { partial_rotary_factor: 1e-9 }, /turns 0 of the 128/],
    [
      'longrope factors',
      { rope_scaling: { type: 'longrope', short_factor: [1] } },
      /short_factor must be a list of 64/,
    ],
    ['half a longrope', { rope_scaling: { type: 'longrope' } }, /lacks short_factor/],
    ['layers', { num_hidden_layers: 1e9 }, /num_hidden_layers must be a whole number from 1 to 1024/],
    ['null sizes', { hidden_size: null }, /lacks hidden_size/],
    ['factors', { rms_norm_eps: 1e-40 }, /rmsNormEps is 1e-40; factors of 1e-30 to 1e\+30/],
    ['scales', { model_type: 'granite', logits_scaling: 0 }, /logits_scaling must be a number above 0/],
    ['heads above 256', { head_dim: 264 }, /head_dim is 264; even numbers up to 256/],
    ['heads of an odd size', { head_dim: 33 }, /33 of the 33 elements of a head; an even number/],
    ['heads of an odd size that turn in part', { head_dim: 33, partial_rotary_factor: 0.5 }, /head_dim is 33; even/],
  ];
  for (const [what, change, message] of refused) {
    test(what, () => expect(() => configOf({ model_type: 'llama', ...SIZES, ...change })).toThrow(message));
  }
});

test('a multimodal checkpoint is read for its text alone, in either layout', async () => {
  const files = await openModel(droppedFolder(fixtureFolder('gemma3')));
  const plain = resolveTensors(files, readConfig(files));
  const vision = files.tensors.get('model.norm.weight');
  for (const [root, tower] of [
    ['language_model.model.', 'vision_tower.'],
    ['model.language_model.', 'model.vision_tower.'],
  ]) {
    const renamed = [...files.tensors].map(([name, tensor]) => [name.replace('model.', root), tensor] as const);
    const tensors = new Map([...renamed, [`${tower}patch.weight`, vision]]) as ModelFiles['tensors'];
    const config = { model_type: 'gemma3', text_config: files.config };
    const multimodal = { ...files, config, tensors };
    expect(resolveTensors(multimodal, readConfig(multimodal))).toEqual(plain);
  }
  const tensors = new Map([...files.tensors, ['vision_tower.patch.weight', vision]]) as ModelFiles['tensors'];
  expect(() => resolveTensors({ ...files, tensors }, readConfig(files))).toThrow(
    /vision_tower.patch.weight has no place/,
  );
});

test('parts of a fused matrix are its rows, in order, and read no further', async () => {
  const files = await openModel(droppedFolder(fixtureFolder('phi3_longrope_short')));
  const [layer] = resolveTensors(files, readConfig(files)).layers;
  const whole = files.tensors.get('model.layers.0.self_attn.qkv_proj.weight');
  if (!whole) throw new Error('the fixture has no fused matrix');
  const parts = [layer.wq, layer.wk, layer.wv];
  expect(parts.map(({ name, shape }) => [name, ...shape])).toEqual([96, 32, 32].map((rows) => [whole.name, rows, 96]));
  const bytes = await Promise.all(parts.map((part) => part.read(0, part.byteLength)));
  expect(bytes.flatMap((part) => [...part])).toEqual([...(await whole.read(0, whole.byteLength))]);
  expect([...(await layer.wk.read(10, 4))]).toEqual([...(await whole.read(96 * 96 * 2 + 10, 4))]);
  await expect(layer.wk.read(0, layer.wk.byteLength + 1)).rejects.toThrow(RangeError);
});
