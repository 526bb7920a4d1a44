import type { RopeParameters, RopeScaling } from '../cpu/rope';
import { UnsupportedModelError } from '../errors';
import type { GgufValue } from '../storage/gguf';
import type { ModelFiles } from '../storage/model_file';
import type { LayerConfig, ModelConfig } from './config';
import { type ArchitectureName, stretchedContext, traitsOf } from './config_architectures';
import { ConfigReader, MAX } from './config_numbers';

const WHERE = 'GGUF metadata';

interface Sizes {
  nLayers: number;
  nHeads: number;
  hiddenSize: number;
}

/**
 * What llama.cpp has in its code and not in the file. Sources: llama_model_rope_type (`rotary`) and load_hparams (the rest) of
 * src/llama-model.cpp.
 */
interface GgufArchitecture {
  rotary: ModelConfig['rotary'];
  /** Window of the local layers where the file names none. */
  window?: number;
  /** Every such layer is a global one; without it all layers are local, if the file has a window. */
  globalPeriod?: number;
  /** theta of the local layers, which have no scaling. Left out: all layers are alike. */
  localTheta?: number;
  /** Every such layer is without RoPE. */
  nopePeriod?: number;
  /** Layers of the one size (27B) in which q . k is scaled by hidden / n_heads instead of head_dim. */
  layersScaledByHidden?: number;
  /** What only this architecture reads. */
  differences?: (read: ConfigReader) => Partial<ModelConfig>;
}

const ARCHITECTURES: Partial<Record<ArchitectureName, GgufArchitecture>> = {
  llama: { rotary: 'interleaved' },
  qwen2: { rotary: 'half' },
  qwen3: { rotary: 'half' },
  smollm3: { rotary: 'interleaved', nopePeriod: 4 },
  gemma2: {
    rotary: 'half',
    window: 4096,
    globalPeriod: 2,
    layersScaledByHidden: 46,
    differences: (read) => ({
      attentionSoftcap: read.positive('attn_logit_softcapping', 50),
      logitSoftcap: read.positive('final_logit_softcapping', 30),
    }),
  },
  gemma3: {
    rotary: 'half',
    globalPeriod: 6,
    localTheta: 10000,
    layersScaledByHidden: 62,
    differences: (read) => ({ logitSoftcap: read.optionalPositive('final_logit_softcapping') }),
  },
  phi3: { rotary: 'half' },
  granite: {
    rotary: 'interleaved',
    differences: (read) => ({
      embeddingScale: read.positive('embedding_scale', 1),
      residualScale: read.positive('residual_scale', 1),
      logitScale: 1 / read.positive('logit_scale', 1),
    }),
  },
  olmo2: { rotary: 'half' },
};

/**
 * Keys of the GGUF specification (ggml, docs/gguf.md, section "LLM", and gguf-py, constants.py).
 * @throws UnsupportedModelError for other architectures and numbers out of range
 */
export function configFromGguf(metadata: ReadonlyMap<string, GgufValue>, tensors: ModelFiles['tensors']): ModelConfig {
  const { name, architecture } = findArchitecture(metadata);
  const read = new ConfigReader(WHERE, (key) => metadata.get(key), `${name}.`);
  if (read.has('expert_count') && read.whole('expert_count', MAX.layers) > 0) {
    throw new UnsupportedModelError('This GGUF is a mixture of experts, which is not supported. Choose a dense model.');
  }
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
  const contextLength = read.count('context_length', MAX.context);
  const ropes = readRopes(read, architecture, headDim, contextLength, tensors);
  return {
    ...traitsOf(name, hiddenSize),
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
    layers: readLayers(read, name, architecture, nLayers),
    attentionScale: read.positive('attention.scale', headScale({ nLayers, nHeads, hiddenSize }, headDim, architecture)),
    rotary: architecture.rotary,
    contextLength: stretchedContext(contextLength, ropes[0].scaling),
    tiedEmbedding: !tensors.has('output.weight'),
    qkvBias: tensors.has('blk.0.attn_q.bias') || tensors.has('blk.0.attn_qkv.bias'),
    outputBias: tensors.has('blk.0.attn_output.bias'),
    mlpBias: tensors.has('blk.0.ffn_gate.bias'),
    ...architecture.differences?.(read),
  };
}

function findArchitecture(metadata: ReadonlyMap<string, GgufValue>): {
  name: ArchitectureName;
  architecture: GgufArchitecture;
} {
  const known = Object.entries(ARCHITECTURES) as [ArchitectureName, GgufArchitecture][];
  const wanted = new ConfigReader(WHERE, (key) => metadata.get(key)).text('general.architecture') ?? '';
  const found = known.find(([name]) => name === wanted);
  if (found) return { name: found[0], architecture: found[1] };
  throw new UnsupportedModelError(
    `GGUF architecture "${wanted.slice(0, 80)}" is not supported. Choose a model of one of these: ${known.map(([name]) => name).join(', ')}.`,
  );
}

/** 1 / sqrt(head_dim) but in the largest Gemma. */
function headScale({ nLayers, nHeads, hiddenSize }: Sizes, headDim: number, architecture: GgufArchitecture): number {
  return (nLayers === architecture.layersScaledByHidden ? hiddenSize / nHeads : headDim) ** -0.5;
}

function readLayers(
  read: ConfigReader,
  name: ArchitectureName,
  { window: usual, globalPeriod, localTheta, nopePeriod }: GgufArchitecture,
  nLayers: number,
): LayerConfig[] {
  const window = read.whole('attention.sliding_window', MAX.context, usual ?? 0) || null; // 0: none (Phi 4)
  if (name === 'olmo2' && window !== null) {
    throw new UnsupportedModelError(
      `${WHERE}: an olmo2 with a sliding window of ${window} is OLMo 3, which is not supported. Choose OLMo 2.`,
    );
  }
  const isLocal = localLayers(read, nLayers, globalPeriod);
  return Array.from({ length: nLayers }, (_, layer) => {
    const rope = localTheta !== undefined && isLocal(layer) ? 1 : 0;
    const hasRope = nopePeriod === undefined || (layer + 1) % nopePeriod !== 0;
    return { rope: hasRope ? rope : null, window: isLocal(layer) ? window : null };
  });
}

/** The pattern is a flag for each layer, true for a local one, or the distance of global ones. */
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
 * llama3 scaling reaches a GGUF as the tensor rope_freqs.weight, and the factors of longrope as two tensors, often without
 * a type: `withRopeFactors` puts them in. The attention factor of a file multiplies that of yarn (ggml_rope_yarn).
 */
function readScaling(read: ConfigReader, contextLength: number, tensors: ModelFiles['tensors']): RopeScaling | null {
  const hasFactors = tensors.has('rope_factors_long.weight') && tensors.has('rope_factors_short.weight');
  const hasFactor = read.has('rope.scaling.factor');
  const kind = read.text('rope.scaling.type') ?? (hasFactors ? 'longrope' : hasFactor ? 'linear' : 'none');
  const originalContextLength = read.count('rope.scaling.original_context_length', MAX.context, contextLength);
  const attentionFactor = read.positive('rope.scaling.attn_factor', 1);
  if (hasFactors && (kind === 'none' || kind === 'longrope')) {
    return { type: 'longrope', shortFactors: [], longFactors: [], attentionFactor, originalContextLength };
  }
  if (kind === 'none') return null;
  if (kind === 'linear') return { type: 'linear', factor: read.positive('rope.scaling.factor') };
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
