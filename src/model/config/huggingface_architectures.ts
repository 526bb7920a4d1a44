// Settings of each model_type for reading a config.json.

import type { ArchitectureName } from './architectures';
import type { ModelConfig } from './config';
import { type ConfigReader, MAX } from './reader';

/** A JSON object of a config. */
export type Keys = Readonly<Record<string, unknown>>;

/** Reads a model_type of transformers. Sources: configuration_<model_type>.py and modeling_<model_type>.py. */
export interface HuggingFaceArchitecture {
  name: ArchitectureName;
  /** Values of missing keys, as opposed to those that are null. */
  defaults: Keys;
  /** Tells the layers that see `sliding_window` keys, if `layer_types` does not. Default: no layer. */
  isLocal?: (read: ConfigReader, layer: number, hasRope: boolean) => boolean;
  /** True if local layers have a RoPE of their own. */
  localRope?: boolean;
  /** Tells the layers that have RoPE. Default: all. */
  hasRope?: (read: ConfigReader, nLayers: number) => boolean[];
  /** Reads the keys of this architecture alone. */
  differences?: (read: ConfigReader) => Partial<ModelConfig>;
}

const QWEN = {
  defaults: { max_position_embeddings: 32768, use_sliding_window: false, sliding_window: 4096, max_window_layers: 28 },
  isLocal: (read: ConfigReader, layer: number) => layer >= read.whole('max_window_layers', MAX.layers),
};

const GEMMA = {
  head_dim: 256,
  hidden_activation: 'gelu_pytorch_tanh',
  tie_word_embeddings: true,
  query_pre_attn_scalar: 256,
  sliding_window: 4096,
};

const gemma = (read: ConfigReader): Partial<ModelConfig> => ({
  normOffset: 1,
  attentionScale: read.positive('query_pre_attn_scalar') ** -0.5,
  attentionSoftcap: read.optionalPositive('attn_logit_softcapping'),
  logitSoftcap: read.optionalPositive('final_logit_softcapping'),
});

const GEMMA3: HuggingFaceArchitecture = {
  name: 'gemma3',
  // The text part of a multimodal checkpoint omits keys with the values of Gemma3TextConfig.
  defaults: {
    ...GEMMA,
    vocab_size: 262208,
    hidden_size: 2304,
    intermediate_size: 9216,
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    max_position_embeddings: 131072,
    rope_theta: 1e6,
    rope_local_base_freq: 1e4,
    sliding_window_pattern: 6,
  },
  isLocal: (read, layer) => (layer + 1) % read.count('sliding_window_pattern', MAX.layers) !== 0,
  localRope: true,
  differences: gemma,
};

/** Keys are those of model_type. */
export const HUGGING_FACE: ReadonlyMap<string, HuggingFaceArchitecture> = new Map(
  Object.entries<HuggingFaceArchitecture>({
    llama: { name: 'llama', defaults: {} },
    mistral: {
      name: 'mistral',
      defaults: { max_position_embeddings: 131072, num_key_value_heads: 8, sliding_window: 4096 },
      isLocal: () => true,
    },
    qwen2: { name: 'qwen2', ...QWEN, differences: () => ({ qkvBias: true }) },
    qwen3: { name: 'qwen3', ...QWEN, defaults: { ...QWEN.defaults, head_dim: 128 } },
    smollm3: {
      name: 'smollm3',
      defaults: {
        max_position_embeddings: 32768,
        num_key_value_heads: 4,
        rope_theta: 2e6,
        tie_word_embeddings: true,
        use_sliding_window: false,
        no_rope_layer_interval: 4,
      },
      isLocal: (_read, _layer, hasRope) => !hasRope,
      hasRope: smollm3Ropes,
    },
    gemma2: {
      name: 'gemma2',
      defaults: {
        ...GEMMA,
        max_position_embeddings: 8192,
        attn_logit_softcapping: 50,
        final_logit_softcapping: 30,
      },
      isLocal: (_read, layer) => layer % 2 === 0,
      differences: gemma,
    },
    gemma3: GEMMA3,
    gemma3_text: GEMMA3,
    phi3: {
      name: 'phi3',
      defaults: { max_position_embeddings: 4096, original_max_position_embeddings: 4096, rms_norm_eps: 1e-5 },
      isLocal: () => true,
    },
    granite: { name: 'granite', defaults: {}, differences: granite },
    olmo2: { name: 'olmo2', defaults: { rms_norm_eps: 1e-5 } },
  }),
);

function granite(read: ConfigReader): Partial<ModelConfig> {
  return {
    embeddingScale: read.positive('embedding_multiplier', 1),
    attentionScale: read.positive('attention_multiplier', 1),
    residualScale: read.positive('residual_multiplier', 1),
    logitScale: 1 / read.positive('logits_scaling', 1),
  };
}

/** `no_rope_layers` holds 1 for the layers that turn. */
function smollm3Ropes(read: ConfigReader, nLayers: number): boolean[] {
  const listed = read.list('no_rope_layers', nLayers, 'numbers 0 or 1', (v): v is 0 | 1 => v === 0 || v === 1);
  if (listed) return listed.map((turns) => turns === 1);
  const interval = read.count('no_rope_layer_interval', MAX.layers);
  return Array.from({ length: nLayers }, (_, layer) => (layer + 1) % interval !== 0);
}
