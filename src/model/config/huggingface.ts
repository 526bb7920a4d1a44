// Model configurations from the config.json of transformers.

import { UnsupportedModelError } from '../../errors';
import { BOTH_WAYS, halfWindow, MEAN, stretchedContext, traitsOf } from './architectures';
import type { LayerConfig, ModelConfig } from './config';
import { HUGGING_FACE, type HuggingFaceArchitecture, type Keys } from './huggingface_architectures';
import { readRopes } from './huggingface_rope';
import { ConfigReader, MAX } from './reader';

const WHERE = 'config.json';

/**
 * Reads config.json of transformers, in the spelling of version 5 (`rope_parameters`, `layer_types`) or an older one.
 * @throws UnsupportedModelError for other architectures, quantized checkpoints, and numbers out of range
 */
export function configFromHuggingFace(config: Keys): ModelConfig {
  const { architecture, keys } = findArchitecture(config);
  refuseOtherTasks(config);
  const { defaults } = architecture;
  // A key that is null means none. Only a missing key takes the default.
  const read = new ConfigReader(WHERE, (key) => (Object.hasOwn(keys, key) ? keys[key] : defaults[key]));
  refuseVariants(read, architecture);
  refuseQuantized(config); // last of these: its remedy, a GGUF file, helps with no other refusal
  const hiddenSize = read.count('hidden_size', MAX.hidden);
  const nHeads = read.count('num_attention_heads', MAX.heads);
  const headDim = read.count('head_dim', MAX.headDim, hiddenSize / nHeads);
  const ropes = readRopes(read, headDim, architecture.localRope ?? false, architecture.name);
  const attentionBias = read.flag('attention_bias', false);
  return {
    ...traitsOf(architecture.name, hiddenSize),
    architecture: architecture.name,
    vocabSize: read.count('vocab_size', MAX.vocab),
    hiddenSize,
    intermediateSize: read.count('intermediate_size', MAX.intermediate),
    nLayers: read.count('num_hidden_layers', MAX.layers),
    nHeads,
    nKvHeads: read.count('num_key_value_heads', MAX.heads, nHeads),
    headDim,
    rmsNormEps: read.positive('rms_norm_eps', 1e-6),
    ropes,
    layers: readLayers(read, architecture),
    attentionScale: headDim ** -0.5,
    rotary: 'half',
    contextLength: stretchedContext(read.count('max_position_embeddings', MAX.context, 2048), ropes[0].scaling),
    tiedEmbedding: read.flag('tie_word_embeddings', false),
    qkvBias: attentionBias,
    outputBias: attentionBias,
    mlpBias: read.flag('mlp_bias', false),
    activation: readActivation(read),
    ...architecture.differences?.(read),
    ...(isBothWays(read) ? { ...BOTH_WAYS, embedding: MEAN } : {}),
  };
}

/** The architecture that config.json names, and the keys that describe its text model. */
function findArchitecture(config: Keys): { architecture: HuggingFaceArchitecture; keys: Keys } {
  const modelType = new ConfigReader(WHERE, (key) => config[key]).text('model_type');
  const architecture = HUGGING_FACE.get(modelType ?? '');
  if (!architecture) {
    const fault =
      modelType === null ? 'there is no model_type' : `model_type "${modelType.slice(0, 80)}" is not supported`;
    const known = [...HUGGING_FACE.keys()].join(', ');
    throw new UnsupportedModelError(`${WHERE}: ${fault}. Choose a model of one of these types: ${known}.`);
  }
  const text = modelType === 'gemma3' ? config.text_config : config;
  if (typeof text !== 'object' || text === null || Array.isArray(text)) {
    throw new UnsupportedModelError(`${WHERE}: a model of type "${modelType}" needs text_config, an object.`);
  }
  const isTied = config.tie_word_embeddings === undefined ? {} : { tie_word_embeddings: config.tie_word_embeddings };
  return { architecture, keys: { ...isTied, ...text } };
}

/** Refuses checkpoints with matrices in special formats: GPTQ, AWQ, bitsandbytes, compressed-tensors, fp8 ... */
function refuseQuantized(config: Keys): void {
  const read = new ConfigReader(WHERE, (key) => config[key]);
  for (const part of [read, read.inner('text_config')]) {
    const key = QUANTIZED.find((name) => part?.has(name));
    const quantization = key && part?.inner(key);
    if (!quantization) continue;
    const method = (quantization.text('quant_method') ?? 'an unnamed method').slice(0, 80);
    throw new UnsupportedModelError(
      `${WHERE}: the weights are quantized by ${method} (${key}), which is not supported. ` +
        'Use the repository of the unquantized model, or a GGUF file of it.',
    );
  }
}

/** Keys that describe such a format; the last is that of MLX. */
const QUANTIZED = ['quantization_config', 'compression_config', 'quantization'];

/** Refuses classes with a head for another task. They may share the model_type of a chat model. */
function refuseOtherTasks(config: Keys): void {
  const { architectures } = config;
  const names = Array.isArray(architectures) ? architectures.filter((name) => typeof name === 'string') : [];
  if (names.length === 0 || names.some((name) => KNOWN.test(name))) return;
  const named = names[0].slice(0, 80);
  throw new UnsupportedModelError(
    `${WHERE}: architectures names ${named}, which rates text and neither writes nor embeds any. Choose another model.`,
  );
}

const KNOWN = /ForCausalLM$|ForConditionalGeneration$|Model$/;

/** Refuses relatives that share a model_type with a supported model but compute something else. */
function refuseVariants(read: ConfigReader, { name }: HuggingFaceArchitecture): void {
  for (const key of ['num_local_experts', 'num_experts', 'n_routed_experts']) {
    const experts = read.has(key) ? read.whole(key, MAX.layers) : 0;
    if (experts > 1) {
      throw new UnsupportedModelError(
        `${WHERE}: ${key} is ${experts}: a mixture of experts, which is not supported. Choose a dense model.`,
      );
    }
  }
  if (name !== 'gemma3' && isBothWays(read)) {
    throw new UnsupportedModelError(
      `${WHERE}: use_bidirectional_attention is true, which is supported for Gemma 3 alone. Choose another model.`,
    );
  }
}

/** True without a causal mask. */
function isBothWays(read: ConfigReader): boolean {
  return read.flag('use_bidirectional_attention', false);
}

const ACTIVATIONS: Readonly<Record<string, ModelConfig['activation']>> = {
  silu: 'silu',
  swish: 'silu',
  gelu_pytorch_tanh: 'gelu_tanh',
};

function readActivation(read: ConfigReader): ModelConfig['activation'] {
  const key = read.has('hidden_activation') ? 'hidden_activation' : 'hidden_act';
  const name = read.text(key) ?? 'silu';
  if (!Object.hasOwn(ACTIVATIONS, name)) {
    const known = Object.keys(ACTIVATIONS).join(', ');
    throw new UnsupportedModelError(
      `${WHERE}: ${key} is "${name.slice(0, 80)}", which is not supported. Choose a model with one of these: ${known}.`,
    );
  }
  return ACTIVATIONS[name];
}

function readLayers(read: ConfigReader, architecture: HuggingFaceArchitecture): LayerConfig[] {
  const { isLocal, localRope } = architecture;
  const nLayers = read.count('num_hidden_layers', MAX.layers);
  const turns = architecture.hasRope?.(read, nLayers) ?? Array.from({ length: nLayers }, () => true);
  const types = isLocal ? read.list('layer_types', nLayers, LAYER_TYPES, isLayerType) : null;
  const isWindowed = isLocal !== undefined && read.flag('use_sliding_window', true);
  const stated = isWindowed ? read.optionalCount('sliding_window', MAX.context) : null;
  const window = isBothWays(read) ? halfWindow(stated) : stated;
  return turns.map((hasRope, layer) => {
    const local = types ? types[layer] === 'sliding_attention' : isWindowed && isLocal(read, layer, hasRope);
    const rope = localRope && local ? 1 : 0;
    return { rope: hasRope ? rope : null, window: local ? window : null };
  });
}

const LAYER_TYPES = 'of "full_attention" and "sliding_attention"';

function isLayerType(value: unknown): value is 'full_attention' | 'sliding_attention' {
  return value === 'full_attention' || value === 'sliding_attention';
}
