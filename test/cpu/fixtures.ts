// Reads test/fixtures/llama for the tests: tiny models with logits and greedy ids of transformers. Trusts its files.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dequantise, type StoredType } from '../../src/cpu/dequantise';
import type { CpuLayer, CpuLlamaConfig, CpuWeights } from '../../src/cpu/llama';
import type { RopeParameters } from '../../src/cpu/rope';

const FOLDER = join(import.meta.dirname, '../fixtures/llama');

export interface LlamaFixture {
  config: CpuLlamaConfig;
  weights: CpuWeights;
  /** What transformers computed in f32: logits[t] follow inputIds[0 .. t]. */
  inputIds: number[];
  logits: Float32Array[];
  greedy: { promptIds: number[]; ids: number[]; margins: number[] };
}

export const fixtureNames: string[] = existsSync(FOLDER) ? readdirSync(FOLDER).sort() : [];

export function readFixture(name: string): LlamaFixture {
  const folder = join(FOLDER, name);
  const json = readJson<HfConfig>(join(folder, 'config.json'));
  const config = llamaConfig(json);
  const files = readdirSync(folder).filter((file) => /^model.*\.safetensors$/.test(file));
  const tensors = new Map(files.flatMap((file) => [...readSafetensors(join(folder, file))]));
  const expected = readSafetensors(join(folder, 'expected.safetensors'));
  const inputIds = [...new Int32Array(expected.get('input_ids')!.bytes.slice().buffer)];
  const logits = numbers(expected, 'logits');
  return {
    config,
    weights: llamaWeights(tensors, config.nLayers),
    inputIds,
    logits: inputIds.map((_, t) => logits.subarray(t * config.vocabSize, (t + 1) * config.vocabSize)),
    greedy: readJson(join(folder, 'greedy.json')),
  };
}

interface HfRope {
  rope_type?: string;
  rope_theta?: number;
  factor?: number;
  low_freq_factor?: number;
  high_freq_factor?: number;
  original_max_position_embeddings?: number;
}

interface HfConfig {
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim?: number;
  rms_norm_eps: number;
  rope_theta?: number;
  rope_scaling?: HfRope | null;
  rope_parameters?: HfRope;
}

function llamaConfig(json: HfConfig): CpuLlamaConfig {
  const rope = json.rope_parameters ?? json.rope_scaling ?? {};
  const scaling: RopeParameters['scaling'] =
    rope.rope_type === 'llama3'
      ? {
          type: 'llama3',
          factor: rope.factor!,
          lowFreqFactor: rope.low_freq_factor!,
          highFreqFactor: rope.high_freq_factor!,
          originalContextLength: rope.original_max_position_embeddings!,
        }
      : null;
  return {
    vocabSize: json.vocab_size,
    hiddenSize: json.hidden_size,
    intermediateSize: json.intermediate_size,
    nLayers: json.num_hidden_layers,
    nHeads: json.num_attention_heads,
    nKvHeads: json.num_key_value_heads,
    headDim: json.head_dim ?? json.hidden_size / json.num_attention_heads,
    rmsNormEps: json.rms_norm_eps,
    rope: { theta: rope.rope_theta ?? json.rope_theta!, scaling },
    rotary: 'half',
  };
}

function llamaWeights(tensors: Tensors, nLayers: number): CpuWeights {
  const get = (name: string) => numbers(tensors, name);
  const optional = (name: string) => (tensors.has(name) ? get(name) : null);
  const layers = Array.from({ length: nLayers }, (_, i): CpuLayer => {
    const attn = `model.layers.${i}.self_attn`;
    const mlp = `model.layers.${i}.mlp`;
    return {
      attnNorm: get(`model.layers.${i}.input_layernorm.weight`),
      wq: get(`${attn}.q_proj.weight`),
      wk: get(`${attn}.k_proj.weight`),
      wv: get(`${attn}.v_proj.weight`),
      wo: get(`${attn}.o_proj.weight`),
      bq: optional(`${attn}.q_proj.bias`),
      bk: optional(`${attn}.k_proj.bias`),
      bv: optional(`${attn}.v_proj.bias`),
      bo: optional(`${attn}.o_proj.bias`),
      qNorm: null,
      kNorm: null,
      postAttnNorm: null,
      postMlpNorm: null,
      mlpNorm: get(`model.layers.${i}.post_attention_layernorm.weight`),
      wGate: get(`${mlp}.gate_proj.weight`),
      wUp: get(`${mlp}.up_proj.weight`),
      wDown: get(`${mlp}.down_proj.weight`),
      bGate: optional(`${mlp}.gate_proj.bias`),
      bUp: optional(`${mlp}.up_proj.bias`),
      bDown: optional(`${mlp}.down_proj.bias`),
    };
  });
  const embedding = get('model.embed_tokens.weight');
  const head = optional('lm_head.weight') ?? embedding;
  return { embedding, layers, finalNorm: get('model.norm.weight'), head };
}

type Tensors = Map<string, { dtype: string; bytes: Uint8Array }>;

function numbers(tensors: Tensors, name: string): Float32Array {
  const tensor = tensors.get(name);
  if (!tensor) throw new Error(`The fixture has no tensor ${name}.`);
  return dequantise(tensor.dtype as StoredType, tensor.bytes);
}

/** u64 header length, JSON header with byte ranges, data. */
function readSafetensors(path: string): Tensors {
  const file = new Uint8Array(readFileSync(path));
  const headerEnd = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
  const header: Record<string, { dtype: string; data_offsets: [number, number] }> = JSON.parse(
    new TextDecoder().decode(file.subarray(8, headerEnd)),
  );
  const { __metadata__: _, ...entries } = header;
  return new Map(
    Object.entries(entries).map(([name, { dtype, data_offsets }]) => {
      const [begin, end] = data_offsets;
      return [name, { dtype, bytes: file.subarray(headerEnd + begin, headerEnd + end) }];
    }),
  );
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
