// Model configurations from GGUF metadata.

import type { RopeParameters, RopeScaling } from '../../cpu/rope';
import { UnsupportedModelError } from '../../errors';
import type { GgufValue } from '../../storage/formats/gguf';
import type { ModelFiles } from '../../storage/model_files';
import { type ArchitectureName, BOTH_WAYS, halfWindow, stretchedContext, traitsOf } from './architectures';
import type { LayerConfig, ModelConfig } from './config';
import { GGUF, type GgufArchitecture } from './gguf_architectures';
import { ConfigReader, MAX } from './reader';

const WHERE = 'GGUF metadata';

/**
 * Reads the keys of the GGUF specification (ggml, docs/gguf.md, section "LLM", and gguf-py, constants.py).
 * @throws UnsupportedModelError for other architectures and numbers out of range
 */
export function configFromGguf(metadata: ReadonlyMap<string, GgufValue>, tensors: ModelFiles['tensors']): ModelConfig {
  const { name, architecture } = findArchitecture(metadata);
  const read = new ConfigReader(WHERE, (key) => metadata.get(key), `${name}.`);
  refuseVariants(read);
  const hiddenSize = read.count('embedding_length', MAX.hidden);
  const nHeads = read.count('attention.head_count', MAX.heads);
  const headDim = read.count('attention.key_length', MAX.headDim, hiddenSize / nHeads);
  const valueDim = read.count('attention.value_length', MAX.headDim, headDim);
  if (valueDim !== headDim) {
    throw new UnsupportedModelError(
      `Keys of ${headDim} with values of ${valueDim} are not supported: both must be equal.`,
    );
  }
  const nLayers = read.count('block_count', MAX.layers);
  const scaledDim = nLayers === architecture.layersScaledByHidden ? hiddenSize / nHeads : headDim;
  const contextLength = read.count('context_length', MAX.context);
  const ropes = readRopes(read, architecture, headDim, contextLength, tensors);
  const traits = traitsOf(name, hiddenSize);
  const causal = read.flag('attention.causal', traits.causal);
  return {
    ...traits,
    ...(causal ? {} : BOTH_WAYS),
    embedding: readEmbedding(read, tensors, traits.embedding),
    architecture: name,
    vocabSize: read.count('vocab_size', MAX.vocab, tensors.get('token_embd.weight')?.shape[0]),
    hiddenSize,
    intermediateSize: read.count('feed_forward_length', MAX.intermediate),
    nLayers,
    nHeads,
    nKvHeads: read.count('attention.head_count_kv', MAX.heads, nHeads),
    headDim,
    rmsNormEps: read.positive('attention.layer_norm_rms_epsilon'),
    ropes,
    layers: readLayers(read, name, architecture, nLayers, causal),
    attentionScale: read.positive('attention.scale', scaledDim ** -0.5),
    rotary: architecture.rotary,
    contextLength: stretchedContext(contextLength, ropes[0].scaling),
    tiedEmbedding: !tensors.has('output.weight'),
    qkvBias: tensors.has('blk.0.attn_q.bias') || tensors.has('blk.0.attn_qkv.bias'),
    outputBias: tensors.has('blk.0.attn_output.bias'),
    mlpBias: tensors.has('blk.0.ffn_gate.bias'),
    ...architecture.differences?.(read),
  };
}

/** Refuses relatives of a supported architecture that compute something else. */
function refuseVariants(read: ConfigReader): void {
  if (read.has('expert_count') && read.whole('expert_count', MAX.layers) > 0) {
    throw new UnsupportedModelError('This GGUF is a mixture of experts, which is not supported. Choose a dense model.');
  }
}

/** Reads the pooling, whose kinds are those of llama.h, enum llama_pooling_type. */
function readEmbedding(read: ConfigReader, tensors: ModelFiles['tensors'], usual: ModelConfig['embedding']) {
  const kind = read.whole('pooling_type', MAX.layers, 0);
  const pooling = kind === 0 ? usual.pooling : kind === 1 ? 'mean' : kind === 3 ? 'last' : null;
  if (pooling === null) {
    throw new UnsupportedModelError(
      `This GGUF rates texts, or pools their tokens by kind ${kind}. Choose a chat model, or one with mean or last pooling.`,
    );
  }
  const dense = ['dense_2.weight', 'dense_3.weight'].flatMap((name) => tensors.get(name)?.shape[0] ?? []);
  return { ...usual, pooling, dense };
}

function findArchitecture(metadata: ReadonlyMap<string, GgufValue>): {
  name: ArchitectureName;
  architecture: GgufArchitecture;
} {
  const known = Object.entries(GGUF) as [ArchitectureName, GgufArchitecture][];
  const wanted = new ConfigReader(WHERE, (key) => metadata.get(key)).text('general.architecture') ?? '';
  const found = known.find(([name]) => name === wanted);
  if (found) return { name: found[0], architecture: found[1] };
  throw new UnsupportedModelError(
    `GGUF architecture "${wanted.slice(0, 80)}" is not supported. Choose a model of one of these: ${known.map(([name]) => name).join(', ')}.`,
  );
}

function readLayers(
  read: ConfigReader,
  name: ArchitectureName,
  { window: usual, globalPeriod, localTheta, nopePeriod }: GgufArchitecture,
  nLayers: number,
  causal: boolean,
): LayerConfig[] {
  const stated = read.whole('attention.sliding_window', MAX.context, usual ?? 0) || null; // 0: none (Phi 4)
  const window = causal ? stated : halfWindow(stated);
  if (name === 'olmo2' && window !== null) {
    throw new UnsupportedModelError(
      `${WHERE}: an olmo2 with a sliding window of ${window} is OLMo 3, which is not supported. Choose OLMo 2.`,
    );
  }
  const pattern = localLayers(read, nLayers, globalPeriod);
  const isLocal = (layer: number) => window !== null && pattern(layer);
  return Array.from({ length: nLayers }, (_, layer) => {
    const rope = localTheta !== undefined && isLocal(layer) ? 1 : 0;
    const hasRope = nopePeriod === undefined || (layer + 1) % nopePeriod !== 0;
    return { rope: hasRope ? rope : null, window: isLocal(layer) ? window : null };
  });
}

/** Reads the pattern: a flag for each layer, true for a local one, or the distance of the global ones. */
function localLayers(read: ConfigReader, nLayers: number, period?: number): (layer: number) => boolean {
  const key = 'attention.sliding_window_pattern';
  if (read.isList(key)) {
    const flags = read.list(key, nLayers, 'flags', (value) => typeof value === 'boolean') ?? [];
    return (layer) => flags[layer];
  }
  const distance = read.whole(key, MAX.layers, period ?? 0);
  return (layer) => distance === 0 || (layer + 1) % distance !== 0;
}

function readRopes(
  read: ConfigReader,
  { localTheta }: GgufArchitecture,
  headDim: number,
  contextLength: number,
  tensors: ModelFiles['tensors'],
): RopeParameters[] {
  const rotaryDim = read.count('rope.dimension_count', MAX.headDim, headDim);
  if (rotaryDim > headDim || rotaryDim % 2 !== 0) {
    throw new UnsupportedModelError(
      `${WHERE}: ${rotaryDim} of the ${headDim} elements of a head turn; it must be an even number of them.`,
    );
  }
  const partial = rotaryDim === headDim ? {} : { rotaryDim };
  const theta = read.positive('rope.freq_base', 10000);
  const rope: RopeParameters = { theta, ...partial, scaling: readScaling(read, contextLength, tensors) };
  if (localTheta === undefined) return [rope];
  return [rope, { theta: read.positive('rope.freq_base_swa', localTheta), ...partial, scaling: null }];
}

/**
 * Reads the scaling except its factors: llama3 scaling is the tensor rope_freqs.weight in a GGUF, and longrope has two
 * tensors, often without a type. `withRopeFactors` adds them. The attention factor of a file multiplies that of yarn
 * (ggml_rope_yarn).
 */
function readScaling(read: ConfigReader, contextLength: number, tensors: ModelFiles['tensors']): RopeScaling | null {
  const hasFactors = tensors.has('rope_factors_long.weight') && tensors.has('rope_factors_short.weight');
  // The second name dates from before there were types.
  const factorKey = read.has('rope.scaling.factor') ? 'rope.scaling.factor' : 'rope.scale_linear';
  const hasFactor = read.has(factorKey);
  const kind = read.text('rope.scaling.type') ?? (hasFactors ? 'longrope' : hasFactor ? 'linear' : 'none');
  const originalContextLength = read.count('rope.scaling.original_context_length', MAX.context, contextLength);
  const attentionFactor = read.positive('rope.scaling.attn_factor', 1);
  if (hasFactors && (kind === 'none' || kind === 'longrope')) {
    return { type: 'longrope', shortFactors: [], longFactors: [], attentionFactor, originalContextLength };
  }
  if (kind === 'none') return null;
  if (kind === 'linear') return { type: 'linear', factor: read.positive(factorKey) };
  if (kind === 'yarn') {
    const factor = read.positive('rope.scaling.factor');
    return {
      type: 'yarn',
      factor,
      betaFast: read.positive('rope.scaling.yarn_beta_fast', 32),
      betaSlow: read.positive('rope.scaling.yarn_beta_slow', 1),
      truncate: true,
      attentionFactor: attentionFactor * (factor > 1 ? 1 + 0.1 * Math.log(factor) : 1),
      originalContextLength,
    };
  }
  throw new UnsupportedModelError(
    kind === 'longrope'
      ? `${WHERE}: RoPE of type "longrope" lacks the tensors rope_factors_long and rope_factors_short.`
      : `RoPE scaling "${kind.slice(0, 80)}" is not supported; none, linear, yarn and longrope are.`,
  );
}
