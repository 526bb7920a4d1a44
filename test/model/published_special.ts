// Models with special caps, scales, norms or rotary embeddings: Gemma, Phi, Granite, OLMo.

import type { ModelConfig } from '../../src/model/config/config';
import { PLAIN_LAYER, type Published, sizes } from './published';

const LOCAL_GLOBAL: Published['layers'] = [
  [4096, 0],
  [null, 0],
];
const localBut6th = (window: number) =>
  Array.from({ length: 7 }, (_, i): Published['layers'][0] => (i === 5 ? [null, 0] : [window, 1]));

const gemma2 = {
  architectures: ['Gemma2ForCausalLM'],
  model_type: 'gemma2',
  attention_bias: false,
  attn_logit_softcapping: 50.0,
  cache_implementation: 'hybrid',
  final_logit_softcapping: 30.0,
  hidden_act: 'gelu_pytorch_tanh',
  hidden_activation: 'gelu_pytorch_tanh',
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-6,
  rope_theta: 10000.0,
  sliding_window: 4096,
};

const gemma3 = {
  architectures: ['Gemma3ForCausalLM'],
  model_type: 'gemma3_text',
  attention_bias: false,
  attn_logit_softcapping: null,
  cache_implementation: 'hybrid',
  final_logit_softcapping: null,
  head_dim: 256,
  hidden_activation: 'gelu_pytorch_tanh',
  max_position_embeddings: 32768,
  query_pre_attn_scalar: 256,
  rms_norm_eps: 1e-6,
  rope_local_base_freq: 10000,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: 512,
};

const phi3 = {
  architectures: ['Phi3ForCausalLM'],
  model_type: 'phi3',
  attention_bias: false,
  hidden_act: 'silu',
  original_max_position_embeddings: 4096,
  rms_norm_eps: 1e-5,
  rope_theta: 10000.0,
};

const longrope = {
  type: 'longrope',
  short_factor: Array.from({ length: 48 }, (_, i) => 1 + i / 64),
  long_factor: Array.from({ length: 48 }, (_, i) => 1 + i),
};
/** sqrt(1 + ln(32) / ln(4096)) */
const LONGROPE = { type: 'longrope', originalContextLength: 4096, attentionFactor: 1.1902380714238083 };

export const SPECIAL_MODELS: Published[] = [
  {
    name: 'google/gemma-2-2b-it',
    config: {
      ...gemma2,
      ...sizes(256000, 2304, 9216, 26, 8, 4),
      head_dim: 256,
      query_pre_attn_scalar: 256,
    },
    expected: {
      headDim: 256,
      contextLength: 8192,
      tiedEmbedding: true,
      attentionScale: 1 / 16,
      attentionSoftcap: 50,
      logitSoftcap: 30,
      embeddingScale: 48,
      activation: 'gelu_tanh',
    },
    layers: LOCAL_GLOBAL,
  },
  {
    name: 'google/gemma-2-27b-it',
    config: {
      ...gemma2,
      ...sizes(256000, 4608, 36864, 46, 32, 16),
      head_dim: 128,
      query_pre_attn_scalar: 144,
    },
    expected: { headDim: 128, contextLength: 8192, tiedEmbedding: true, attentionScale: 1 / 12 },
    layers: LOCAL_GLOBAL,
  },
  {
    name: 'google/gemma-3-1b-it',
    config: { ...gemma3, ...sizes(262144, 1152, 6912, 26, 4, 1), sliding_window_pattern: 6 },
    expected: {
      headDim: 256,
      contextLength: 32768,
      tiedEmbedding: true,
      attentionScale: 1 / 16,
      attentionSoftcap: null,
      logitSoftcap: null,
      normOffset: 1,
      qkNorm: 'heads',
      ropes: [
        { theta: 1e6, scaling: null },
        { theta: 1e4, scaling: null },
      ],
    },
    layers: localBut6th(512),
  },
  {
    name: 'google/gemma-3-270m-it',
    config: {
      ...gemma3,
      ...sizes(262144, 640, 2048, 18, 4, 1),
      _sliding_window_pattern: 6,
      layer_types: Array.from({ length: 18 }, (_, i) => ((i + 1) % 6 === 0 ? 'full_attention' : 'sliding_attention')),
      use_bidirectional_attention: false,
    },
    expected: { headDim: 256, contextLength: 32768, tiedEmbedding: true },
    layers: localBut6th(512),
  },
  {
    name: 'google/gemma-3-27b-it, a multimodal checkpoint',
    config: {
      architectures: ['Gemma3ForConditionalGeneration'],
      model_type: 'gemma3',
      image_token_index: 262144,
      mm_tokens_per_image: 256,
      text_config: {
        head_dim: 128,
        hidden_size: 5376,
        intermediate_size: 21504,
        model_type: 'gemma3_text',
        num_attention_heads: 32,
        num_hidden_layers: 62,
        num_key_value_heads: 16,
        query_pre_attn_scalar: 168,
        rope_scaling: { factor: 8.0, rope_type: 'linear' },
        sliding_window: 1024,
      },
      vision_config: { hidden_size: 1152, model_type: 'siglip_vision_model' },
    },
    expected: {
      vocabSize: 262208,
      headDim: 128,
      contextLength: 131072,
      tiedEmbedding: true,
      attentionScale: 168 ** -0.5,
      ropes: [
        { theta: 1e6, scaling: { type: 'linear', factor: 8 } },
        { theta: 1e4, scaling: null },
      ],
    },
    layers: localBut6th(1024),
  },
  {
    name: 'microsoft/Phi-3-mini-4k-instruct',
    config: {
      ...phi3,
      ...sizes(32064, 3072, 8192, 32, 32, 32),
      max_position_embeddings: 4096,
      rope_scaling: null,
      sliding_window: 2047,
      tie_word_embeddings: false,
    },
    expected: { headDim: 96, contextLength: 4096, tiedEmbedding: false, qkvBias: false },
    layers: [[2047, 0]],
  },
  {
    name: 'microsoft/Phi-3.5-mini-instruct',
    config: {
      ...phi3,
      ...sizes(32064, 3072, 8192, 32, 32, 32),
      max_position_embeddings: 131072,
      rope_scaling: longrope,
      sliding_window: 262144,
      tie_word_embeddings: false,
    },
    expected: {
      headDim: 96,
      contextLength: 131072,
      tiedEmbedding: false,
      ropes: [
        {
          theta: 10000,
          scaling: { ...LONGROPE, shortFactors: longrope.short_factor, longFactors: longrope.long_factor },
        } as ModelConfig['ropes'][0],
      ],
    },
    layers: [[262144, 0]],
  },
  {
    name: 'microsoft/Phi-4-mini-instruct',
    config: {
      ...phi3,
      ...sizes(200064, 3072, 8192, 32, 24, 8),
      full_attn_mod: 1,
      interpolate_factor: 1,
      lm_head_bias: false,
      max_position_embeddings: 131072,
      mlp_bias: false,
      partial_rotary_factor: 0.75,
      rope_scaling: longrope,
      sliding_window: 262144,
      tie_word_embeddings: true,
    },
    expected: {
      headDim: 128,
      contextLength: 131072,
      tiedEmbedding: true,
      ropes: [
        {
          theta: 10000,
          rotaryDim: 96,
          scaling: { ...LONGROPE, shortFactors: longrope.short_factor, longFactors: longrope.long_factor },
        } as ModelConfig['ropes'][0],
      ],
    },
    layers: [[262144, 0]],
  },
  {
    name: 'microsoft/phi-4',
    config: {
      ...phi3,
      ...sizes(100352, 5120, 17920, 40, 40, 10),
      max_position_embeddings: 16384,
      original_max_position_embeddings: 16384,
      rope_scaling: null,
      rope_theta: 250000,
      sliding_window: null,
      tie_word_embeddings: false,
    },
    expected: { headDim: 128, contextLength: 16384, tiedEmbedding: false },
    layers: PLAIN_LAYER,
  },
  {
    name: 'ibm-granite/granite-3.1-2b-instruct',
    config: {
      ...sizes(49155, 2048, 8192, 40, 32, 8),
      architectures: ['GraniteForCausalLM'],
      model_type: 'granite',
      attention_bias: false,
      attention_multiplier: 0.015625,
      embedding_multiplier: 12.0,
      hidden_act: 'silu',
      logits_scaling: 8.0,
      max_position_embeddings: 131072,
      mlp_bias: false,
      residual_multiplier: 0.22,
      rms_norm_eps: 1e-5,
      rope_scaling: null,
      rope_theta: 5000000.0,
      tie_word_embeddings: true,
    },
    expected: {
      headDim: 64,
      contextLength: 131072,
      tiedEmbedding: true,
      attentionScale: 1 / 64,
      embeddingScale: 12,
      residualScale: 0.22,
      logitScale: 1 / 8,
    },
    layers: PLAIN_LAYER,
  },
  {
    name: 'allenai/OLMo-2-0425-1B-Instruct',
    config: {
      ...sizes(100352, 2048, 8192, 16, 16, 16),
      architectures: ['Olmo2ForCausalLM'],
      model_type: 'olmo2',
      attention_bias: false,
      hidden_act: 'silu',
      max_position_embeddings: 4096,
      rms_norm_eps: 1e-6,
      rope_scaling: null,
      rope_theta: 500000,
      tie_word_embeddings: false,
    },
    expected: { headDim: 128, contextLength: 4096, tiedEmbedding: false, qkNorm: 'vector', preNorms: false },
    layers: PLAIN_LAYER,
  },
];
