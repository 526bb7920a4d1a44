import type { RopeParameters } from '../cpu/rope';
import { UnsupportedModelError } from '../errors';
import type { GgufValue } from '../storage/gguf';
import type { ModelFiles } from '../storage/model_file';
import { type ModelConfig, PLAIN, sameLayers } from './config';
import { ConfigReader, MAX } from './config_numbers';

/** Keys of the GGUF specification (ggml, docs/gguf.md), section "LLM". */
export function configFromGguf(metadata: ReadonlyMap<string, GgufValue>, files: ModelFiles): ModelConfig {
  const read = new ConfigReader('GGUF metadata', (key) => metadata.get(key));
  const architecture = read.text('general.architecture');
  if (architecture !== 'llama') {
    throw new UnsupportedModelError(`GGUF architecture "${architecture}" is not supported; "llama" is.`);
  }
  if (metadata.has('llama.expert_count') && Number(metadata.get('llama.expert_count')) > 0) {
    throw new UnsupportedModelError('This GGUF is a mixture of experts, which is not supported.');
  }
  const hiddenSize = read.count('llama.embedding_length', MAX.hidden);
  const nHeads = read.count('llama.attention.head_count', MAX.heads);
  const headDim = read.count('llama.attention.key_length', MAX.headDim, hiddenSize / nHeads);
  const valueDim = read.count('llama.attention.value_length', MAX.headDim, headDim);
  const rotaryDim = read.count('llama.rope.dimension_count', MAX.headDim, headDim);
  if (valueDim !== headDim || rotaryDim !== headDim) {
    throw new UnsupportedModelError(
      `Heads of ${headDim} with values of ${valueDim} and ${rotaryDim} rotary dimensions are not supported: all three must be equal.`,
    );
  }
  const nLayers = read.count('llama.block_count', MAX.layers);
  return {
    ...PLAIN,
    architecture,
    vocabSize: read.count('llama.vocab_size', MAX.vocab, files.tensors.get('token_embd.weight')?.shape[0]),
    hiddenSize,
    intermediateSize: read.count('llama.feed_forward_length', MAX.intermediate),
    nLayers,
    nHeads,
    nKvHeads: read.count('llama.attention.head_count_kv', MAX.heads, nHeads),
    headDim,
    rmsNormEps: read.positive('llama.attention.layer_norm_rms_epsilon'),
    ropes: [ropeParameters(read)],
    layers: sameLayers(nLayers),
    attentionScale: headDim ** -0.5,
    rotary: 'interleaved',
    contextLength: read.count('llama.context_length', MAX.context),
    tiedEmbedding: !files.tensors.has('output.weight'),
    qkvBias: files.tensors.has('blk.0.attn_q.bias'),
    outputBias: files.tensors.has('blk.0.attn_output.bias'),
    mlpBias: files.tensors.has('blk.0.ffn_gate.bias'),
  };
}

/** llama3 scaling reaches a GGUF as the tensor rope_freqs.weight, which the loader adds as `factors`. */
function ropeParameters(read: ConfigReader): RopeParameters {
  const theta = read.positive('llama.rope.freq_base', 10000);
  const kind = read.text('llama.rope.scaling.type') ?? 'none';
  if (kind === 'none') return { theta, scaling: null };
  if (kind === 'linear') {
    return { theta, scaling: { type: 'linear', factor: read.positive('llama.rope.scaling.factor') } };
  }
  throw new UnsupportedModelError(`RoPE scaling "${kind}" is not supported; none and linear are.`);
}
