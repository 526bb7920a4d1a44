// Names of tensors in safetensors and GGUF files.

import type { RopeFactors } from '../../cpu/rope';
import type { ModelFiles } from '../../storage/model_files';
import type { ModelConfig } from '../config/config';

export type LayerPart =
  | 'attnNorm'
  | 'q'
  | 'k'
  | 'v'
  | 'qkv'
  | 'o'
  | 'qNorm'
  | 'kNorm'
  | 'postAttnNorm'
  | 'mlpNorm'
  | 'gate'
  | 'up'
  | 'gateUp'
  | 'down'
  | 'postMlpNorm';

/** The names of a model's tensors in its file. */
export interface Names {
  embedding: string;
  finalNorm: string;
  head: string;
  ropeFactors?: Record<keyof RopeFactors, string>;
  /** The linear layers behind the pooling, in their order. */
  dense: readonly string[];
  /** The prefix of a layer. */
  layer: (index: number) => string;
  /** Stems after the layer prefix; `weight` or `bias` follows. `qkv` and `gateUp` are stacked in one tensor. */
  part: Record<LayerPart, string>;
  /** Tensors that are redundant, or not for text. */
  ignored: RegExp;
}

export function tensorNames(files: ModelFiles, config: ModelConfig): Names {
  return files.gguf ? GGUF : huggingFace(files, config);
}

/** Prefixes of a language model: alone, in a multimodal checkpoint of older or newer transformers, without a head. */
const ROOTS = [
  { model: 'model.', head: 'lm_head.weight' },
  { model: 'language_model.model.', head: 'language_model.lm_head.weight' },
  { model: 'model.language_model.', head: 'lm_head.weight' },
  { model: '', head: 'lm_head.weight' },
];

const ROTARY = /\.rotary_emb\.inv_freq$/;
const ROTARY_AND_VISION = /\.rotary_emb\.inv_freq$|^(model\.)?(vision_tower|multi_modal_projector)\./;

/** Names of transformers, modeling_<model_type>.py. */
function huggingFace(files: ModelFiles, { postNorms }: ModelConfig): Names {
  const root = ROOTS.find(({ model }) => files.tensors.has(`${model}embed_tokens.weight`)) ?? ROOTS[0];
  return {
    embedding: `${root.model}embed_tokens.weight`,
    finalNorm: `${root.model}norm.weight`,
    head: root.head,
    dense: (files.modules ?? []).filter(({ type }) => type === 'Dense').map(({ path }) => `${path}/linear.weight`),
    layer: (i) => `${root.model}layers.${i}.`,
    part: {
      attnNorm: 'input_layernorm',
      q: 'self_attn.q_proj',
      k: 'self_attn.k_proj',
      v: 'self_attn.v_proj',
      qkv: 'self_attn.qkv_proj',
      o: 'self_attn.o_proj',
      qNorm: 'self_attn.q_norm',
      kNorm: 'self_attn.k_norm',
      // Without post-norms this name is that of the norm before the MLP.
      postAttnNorm: 'post_attention_layernorm',
      mlpNorm: postNorms ? 'pre_feedforward_layernorm' : 'post_attention_layernorm',
      gate: 'mlp.gate_proj',
      up: 'mlp.up_proj',
      gateUp: 'mlp.gate_up_proj',
      down: 'mlp.down_proj',
      postMlpNorm: 'post_feedforward_layernorm',
    },
    ignored: /language/.test(root.model) ? ROTARY_AND_VISION : ROTARY,
  };
}

/** Names of gguf-py, constants.py, TENSOR_NAMES. */
const GGUF: Names = {
  embedding: 'token_embd.weight',
  finalNorm: 'output_norm.weight',
  head: 'output.weight',
  dense: ['dense_2.weight', 'dense_3.weight'],
  ropeFactors: { all: 'rope_freqs.weight', short: 'rope_factors_short.weight', long: 'rope_factors_long.weight' },
  layer: (i) => `blk.${i}.`,
  part: {
    attnNorm: 'attn_norm',
    q: 'attn_q',
    k: 'attn_k',
    v: 'attn_v',
    qkv: 'attn_qkv',
    o: 'attn_output',
    qNorm: 'attn_q_norm',
    kNorm: 'attn_k_norm',
    postAttnNorm: 'post_attention_norm',
    mlpNorm: 'ffn_norm',
    gate: 'ffn_gate',
    up: 'ffn_up',
    gateUp: 'ffn_up', // without ffn_gate it holds the gate's rows, then its own (Phi 3)
    down: 'ffn_down',
    postMlpNorm: 'post_ffw_norm',
  },
  ignored: /(?!)/,
};
