// A model of safetensors as a GGUF file, by the rules of llama.cpp's convert_hf_to_gguf.py: names, permuted rows,
// Gemma's norms, factors of RoPE. Also writes values that those rules lose although GGUF has a key for them (windows of
// Mistral and Qwen 2, the scale of query_pre_attn_scalar).

import { dequantize } from '../../src/cpu/dequantize';
import type { TensorInfo } from '../../src/storage/formats/tensor';
import { openModel } from '../../src/storage/model_file';
import type { ModelFiles } from '../../src/storage/model_files';
import { type Bytes, type GgufTensor, T, value, writeGguf } from '../storage/write_gguf';

interface Rope {
  rope_type: string;
  rope_theta: number;
  factor?: number;
  original_max_position_embeddings?: number;
  partial_rotary_factor?: number;
  short_factor?: number[];
  long_factor?: number[];
  low_freq_factor?: number;
  high_freq_factor?: number;
}

/** config.json of a fixture, in the spelling of transformers 5 or older. */
interface Config {
  model_type: string;
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim?: number;
  max_position_embeddings: number;
  rms_norm_eps: number;
  rope_theta?: number;
  rope_scaling?: Rope | null;
  rope_parameters?: Rope & { full_attention?: Rope };
  sliding_window?: number | null;
  layer_types?: string[];
  query_pre_attn_scalar?: number;
  attn_logit_softcapping?: number | null;
  final_logit_softcapping?: number | null;
  attention_multiplier?: number;
  embedding_multiplier?: number;
  residual_multiplier?: number;
  logits_scaling?: number;
  use_bidirectional_attention?: boolean;
}

type Key = [string, (out: Bytes) => void];

const ARCHITECTURE: Record<string, string> = { mistral: 'llama', gemma3_text: 'gemma3' };
/** Architectures whose rows of Wq and Wk are turned from halves to neighbors. */
const PERMUTED = ['llama', 'granite', 'smollm3'];
const POST_NORMS = ['gemma2', 'gemma3', 'gemma-embedding', 'olmo2'];
const F32 = 0;
const BF16 = 30;

/** A fixture, opened from its safetensors, as a GGUF: matrices as they are stored, vectors in F32. */
export async function openAsGguf(files: ModelFiles): Promise<ModelFiles> {
  const config = files.config as unknown as Config;
  const both = config.use_bidirectional_attention === true;
  const arch = both ? 'gemma-embedding' : (ARCHITECTURE[config.model_type] ?? config.model_type);
  const rope = ropeOf(config);
  const tensors = await Promise.all([...files.tensors.values()].map((tensor) => ggufTensor(tensor, arch, config)));
  const keys: Key[] = [['general.architecture', value.string(arch)]];
  for (const [key, write] of [...sizeKeys(config), ...ropeKeys(config, rope), ...specialKeys(arch, config)]) {
    keys.push([`${arch}.${key}`, write]);
  }
  if (files.modules) keys.push([`${arch}.pooling_type`, value.u32(both ? 1 : 3)]); // mean, last
  const bytes = writeGguf({ keys, tensors: [...tensors, ...factorTensors(config, rope)] });
  return openModel([new File([bytes], 'model.gguf')]);
}

function headDimOf({ head_dim, hidden_size, num_attention_heads }: Config): number {
  return head_dim ?? hidden_size / num_attention_heads;
}

function ropeOf({ rope_parameters, rope_scaling, rope_theta = 10000 }: Config): Rope {
  if (rope_parameters) return rope_parameters.full_attention ?? rope_parameters;
  return { rope_type: 'default', rope_theta, ...rope_scaling };
}

function sizeKeys(config: Config): Key[] {
  return [
    ['vocab_size', value.u32(config.vocab_size)],
    ['block_count', value.u32(config.num_hidden_layers)],
    ['context_length', value.u32(config.max_position_embeddings)],
    ['embedding_length', value.u32(config.hidden_size)],
    ['feed_forward_length', value.u32(config.intermediate_size)],
    ['attention.head_count', value.u32(config.num_attention_heads)],
    ['attention.head_count_kv', value.u32(config.num_key_value_heads)],
    ['attention.key_length', value.u32(headDimOf(config))],
    ['attention.value_length', value.u32(headDimOf(config))],
    ['attention.layer_norm_rms_epsilon', value.f32(config.rms_norm_eps)],
  ];
}

function ropeKeys(config: Config, rope: Rope): Key[] {
  const { rope_type: type, factor = 1, partial_rotary_factor: share = 1 } = rope;
  const original = rope.original_max_position_embeddings ?? config.max_position_embeddings;
  const keys: Key[] = [
    ['rope.freq_base', value.f32(rope.rope_theta)],
    ['rope.dimension_count', value.u32(headDimOf(config) * share)],
  ];
  if (type === 'linear' || type === 'yarn') {
    keys.push(['rope.scaling.type', value.string(type)], ['rope.scaling.factor', value.f32(factor)]);
  }
  if (type === 'yarn' || type === 'longrope') {
    keys.push(['rope.scaling.original_context_length', value.u32(original)]);
  }
  if (type === 'longrope') {
    const stretch = Math.max(1, config.max_position_embeddings / original);
    const attention = Math.sqrt(1 + Math.log(stretch) / Math.log(original));
    keys.push(['rope.scaling.attn_factor', value.f32(attention)]);
  }
  return keys;
}

function specialKeys(arch: string, config: Config): Key[] {
  const { sliding_window: window, layer_types: types } = config;
  const keys: Key[] = [];
  const number = (key: string, n: number | null | undefined) => {
    if (typeof n === 'number') keys.push([key, value.f32(n)]);
  };
  if (typeof window === 'number') keys.push(['attention.sliding_window', value.u32(window)]);
  else if (arch === 'phi3') keys.push(['attention.sliding_window', value.u32(0)]);
  if (typeof window === 'number' && types) {
    const flags = types.map((type) => (type === 'sliding_attention' ? 1 : 0));
    keys.push(['attention.sliding_window_pattern', value.array(T.bool, flags.length, flags)]);
  }
  const scalar = config.query_pre_attn_scalar;
  number('attention.scale', scalar ? scalar ** -0.5 : config.attention_multiplier);
  number('attn_logit_softcapping', config.attn_logit_softcapping);
  number('final_logit_softcapping', config.final_logit_softcapping);
  number('embedding_scale', config.embedding_multiplier);
  number('residual_scale', config.residual_multiplier);
  number('logit_scale', config.logits_scaling);
  return keys;
}

const STEMS: Record<string, string> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};

function ggufName(given: string, arch: string): string {
  const [, dense] = /^(\d)_Dense\/linear\.weight$/.exec(given) ?? [];
  if (dense) return `dense_${dense}.weight`;
  const name = /^(layers|embed_tokens|norm)\./.test(given) ? `model.${given}` : given; // saved without a head
  const [, layer, stem, kind] = /^(?:model\.layers\.(\d+)\.)?(.*)\.(weight|bias)$/.exec(name) ?? [];
  const norm = POST_NORMS.includes(arch) ? 'post_attention_norm' : 'ffn_norm';
  const to = stem === 'post_attention_layernorm' ? norm : STEMS[stem];
  if (!to) throw new Error(`no GGUF name for ${name}`);
  return `${layer === undefined ? '' : `blk.${layer}.`}${to}.${kind}`;
}

async function ggufTensor(tensor: TensorInfo, arch: string, config: Config): Promise<GgufTensor> {
  const { name, dtype, shape, byteLength } = tensor;
  const stored = await tensor.read(0, byteLength);
  const isMatrix = shape.length > 1;
  const isDense = name.includes('_Dense/');
  if (isMatrix && !isDense && dtype !== 'BF16')
    throw new Error(`${name} is ${dtype}; fixtures of architectures are BF16`);
  const offset = arch.startsWith('gemma') && name.endsWith('norm.weight') ? 1 : 0;
  const vector = () => new Uint8Array(dequantize(dtype, stored).map((v) => v + offset).buffer);
  const data = isMatrix ? stored : vector();
  const turns = PERMUTED.includes(arch) && /\.[qk]_proj\./.test(name);
  return {
    name: ggufName(name, arch),
    ne: [...shape].reverse(),
    type: isMatrix && !isDense ? BF16 : F32,
    data: turns ? neighbors(data, shape[0], headDimOf(config)) : data,
  };
}

/** Row j of a head goes to 2 j, row j + head_dim / 2 to 2 j + 1. */
function neighbors(data: Uint8Array, rows: number, headDim: number): Uint8Array {
  const rowBytes = data.length / rows;
  const turned = new Uint8Array(data.length);
  for (let row = 0; row < rows; row++) {
    const j = row % headDim;
    const to = row - j + (j < headDim / 2 ? 2 * j : 2 * j - headDim + 1);
    turned.set(data.subarray(row * rowBytes, (row + 1) * rowBytes), to * rowBytes);
  }
  return turned;
}

function factorTensors(config: Config, rope: Rope): GgufTensor[] {
  const tensor = (name: string, factors: number[]): GgufTensor => ({
    name,
    ne: [factors.length],
    type: F32,
    data: new Uint8Array(Float32Array.from(factors).buffer),
  });
  if (rope.rope_type === 'llama3') return [tensor('rope_freqs.weight', llama3Factors(config, rope))];
  if (rope.rope_type !== 'longrope') return [];
  return [
    tensor('rope_factors_long.weight', rope.long_factor ?? []),
    tensor('rope_factors_short.weight', rope.short_factor ?? []),
  ];
}

/** 1 for short waves, `factor` for long ones, 1 / ((1 - s) / factor + s) between. */
function llama3Factors(config: Config, rope: Rope): number[] {
  const { factor = 1, low_freq_factor: low = 1, high_freq_factor: high = 4 } = rope;
  const headDim = headDimOf(config);
  return Array.from({ length: headDim / 2 }, (_, j) => {
    const wavelength = 2 * Math.PI * rope.rope_theta ** ((2 * j) / headDim);
    const turns = (rope.original_max_position_embeddings ?? 8192) / wavelength;
    const s = Math.min(1, Math.max(0, (turns - low) / (high - low)));
    return 1 / ((1 - s) / factor + s);
  });
}
