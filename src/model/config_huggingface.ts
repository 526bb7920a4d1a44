import type { RopeParameters } from '../cpu/rope';
import { UnsupportedModelError } from '../errors';
import { type ModelConfig, PLAIN, sameLayers } from './config';
import { ConfigReader, MAX } from './config_numbers';

const WHERE = 'config.json';

/** config.json of transformers (LlamaConfig), classic keys and those of transformers 5 (`rope_parameters`). */
export function configFromHuggingFace(config: Record<string, unknown>): ModelConfig {
  const keys = new Map(Object.entries(config));
  const read = new ConfigReader(WHERE, (key) => keys.get(key));
  const modelType = read.text('model_type');
  if (modelType !== 'llama') {
    throw new UnsupportedModelError(`${WHERE}: model_type is "${modelType}"; only "llama" is supported.`);
  }
  const activation = read.text('hidden_act') ?? 'silu';
  if (activation !== 'silu') {
    throw new UnsupportedModelError(`${WHERE}: hidden_act is "${activation}"; only "silu" is supported.`);
  }
  const hiddenSize = read.count('hidden_size', MAX.hidden);
  const nHeads = read.count('num_attention_heads', MAX.heads);
  const headDim = read.count('head_dim', MAX.headDim, hiddenSize / nHeads);
  const nLayers = read.count('num_hidden_layers', MAX.layers);
  return {
    ...PLAIN,
    architecture: 'llama',
    vocabSize: read.count('vocab_size', MAX.vocab),
    hiddenSize,
    intermediateSize: read.count('intermediate_size', MAX.intermediate),
    nLayers,
    nHeads,
    nKvHeads: read.count('num_key_value_heads', MAX.heads, nHeads),
    headDim,
    rmsNormEps: read.positive('rms_norm_eps', 1e-6),
    ropes: [ropeParameters(read)],
    layers: sameLayers(nLayers),
    attentionScale: headDim ** -0.5,
    rotary: 'half',
    contextLength: read.count('max_position_embeddings', MAX.context, 2048),
    tiedEmbedding: read.flag('tie_word_embeddings', false),
    qkvBias: read.flag('attention_bias', false),
    outputBias: read.flag('attention_bias', false),
    mlpBias: read.flag('mlp_bias', false),
  };
}

/** modeling_rope_utils.py of transformers: kinds default, linear and llama3. */
function ropeParameters(read: ConfigReader): RopeParameters {
  const rope = read.inner('rope_parameters') ?? read.inner('rope_scaling');
  const theta = read.inner('rope_parameters')?.positive('rope_theta', 10000) ?? read.positive('rope_theta', 10000);
  const kind = rope?.text('rope_type') ?? rope?.text('type') ?? 'default';
  if (!rope || kind === 'default') return { theta, scaling: null };
  if (kind === 'linear') return { theta, scaling: { type: 'linear', factor: rope.positive('factor') } };
  if (kind === 'llama3') {
    return {
      theta,
      scaling: {
        type: 'llama3',
        factor: rope.positive('factor'),
        lowFreqFactor: rope.positive('low_freq_factor'),
        highFreqFactor: rope.positive('high_freq_factor'),
        originalContextLength: rope.count('original_max_position_embeddings', MAX.context),
      },
    };
  }
  throw new UnsupportedModelError(`${WHERE}: RoPE scaling "${kind}" is not supported; default, linear and llama3 are.`);
}
