// The GPU buffers of a model beside its weights and its cache.

import type { AttentionShape } from '../attention/attention';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../gpu/device';
import { wideBytes, xqBytes } from '../kernels/elementwise/quantize_activations';
import { logitsBytes, maximaBytes, seenBytes } from '../kernels/sampling/logits_size';
import { partsBytes } from '../kernels/sampling/sample';
import { LOGPROBS_BYTES } from '../sampling/logprobs';
import { BIASES_BYTES, SAMPLING_BYTES } from '../sampling/sampling';
import type { ModelConfig } from './config/config';

/** Lengths of prefill passes, in tokens. Most models take the second. 512 tokens fill a large GPU once. */
export const PASS_LENGTHS = [2048, 1024, 512] as const;
/** Elements of keys and values that take 1 GiB in f16. A context takes more only where somebody asked for it. */
const MANY_KEPT = 2 ** 29;
/** Columns of `h`. Passes of a wider model are half as long. */
const WIDE = 2 ** 14;
/** Tokens times keys times columns of q in one dispatch of attention. A GPU of a TFLOP/s takes 1.2 s for them. */
const MOST_ATTENDED = 3e11; // Windows resets a GPU after 2 s

/**
 * Most tokens of one pass. A text without a causal mask is one pass. A context with more than MANY_KEPT elements takes
 * the longest passes, unless a layer has a window: its ring has room for 1,024 tokens (`windowReach`).
 */
export function passTokens(
  { bindingLimit }: Pick<Gpu, 'bindingLimit'>,
  config: Pick<ModelConfig, 'causal' | 'intermediateSize' | 'layers' | 'nLayers' | 'nHeads' | 'nKvHeads' | 'headDim'>,
  contextLength: number,
): number {
  const { causal, intermediateSize, layers, nLayers, nHeads, nKvHeads, headDim } = config;
  if (!causal) return contextLength;
  const kept = 2 * nLayers * nKvHeads * headDim * contextLength;
  const isLong = kept > MANY_KEPT && layers.every(({ window }) => window === null);
  // Gate and up may be stored in f32 in one binding.
  const fits = (tokens: number) =>
    8 * tokens * intermediateSize <= bindingLimit && tokens * contextLength * nHeads * headDim <= MOST_ATTENDED;
  const allowed = PASS_LENGTHS.slice((isLong ? 0 : 1) + (intermediateSize > WIDE ? 1 : 0));
  return Math.min(allowed.find(fits) ?? PASS_LENGTHS[2], contextLength);
}

/** The activations of one pass and the state that outlives it. Buffers are separate because barriers are per buffer. */
export interface Buffers {
  x: GPUBuffer; // (pass_tokens, hidden_size)
  q: GPUBuffer; // (pass_tokens, n_heads, head_dim)
  attn: GPUBuffer; // (pass_tokens, n_heads, head_dim)
  h: GPUBuffer; // (pass_tokens, intermediate_size)
  y: GPUBuffer; // (pass_tokens, rows of the widest linear that is stored before its norm or scales), empty without any
  xq: GPUBuffer; // (pass_tokens, columns of the widest linear) in signed bytes or in 16 bits, and their scales
  logits: GPUBuffer; // (vocab_size)
  maxima: GPUBuffer; // (ceil(vocab_size / 32)), the largest key of every 32 logits
  tokens: GPUBuffer; // (context_length + 1), the id at each position
  pooled: GPUBuffer; // (hidden_size), the vector of a text
  seen: GPUBuffer; // (vocab_size), 0 between steps
  biases: GPUBuffer; // (MAX_BIASES) struct Bias
  rawLogits: GPUBuffer; // (vocab_size), those of the head, before anything changes them
  rawMaxima: GPUBuffer; // (ceil(vocab_size / 32)), those of the head
  logprobParts: GPUBuffer; // (ceil(vocab_size / 1024), 2)
  logprobs: GPUBuffer; // (LOGPROBS_RING) entries
  sampling: GPUBuffer; // struct Sampling
  status: GPUBuffer; // 0: what sampling reads where no fused step can give up
  ropes: GPUBuffer[]; // each (context_length, head_dim / 2, 2)
}

/** @param storesGateUp whether a layer stores gate and up before it multiplies them (`isInterleaved`) */
export function createBuffers(
  gpu: Gpu,
  config: ModelConfig,
  contextLength: number,
  storesGateUp = false,
  kvType: AttentionShape['kvType'] = 'f32',
): Buffers {
  const storage = (label: string, elements: number) =>
    gpu.createBuffer(label, elements * 4, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  const rows = passTokens(gpu, config, contextLength);
  const qSize = config.nHeads * config.headDim;
  const stored = Math.max(widestStored(config, kvType), storesGateUp ? 2 * config.intermediateSize : 0);
  const widest = Math.max(qSize, config.hiddenSize, config.intermediateSize);
  return {
    x: storage('x', rows * config.hiddenSize),
    q: storage('q', rows * qSize),
    attn: storage('attn', rows * qSize),
    h: storage('h', rows * config.intermediateSize),
    y: storage('y', rows * stored),
    xq: storage('xq', (gpu.can.matrices ? wideBytes : xqBytes)(rows, widest) / 4),
    logits: storage('logits', logitsBytes(config.vocabSize) / 4),
    maxima: storage('maxima', maximaBytes(config.vocabSize) / 4),
    tokens: storage('tokens', contextLength + 1),
    pooled: storage('pooled', config.hiddenSize),
    seen: storage('seen', seenBytes(config.vocabSize) / 4),
    biases: storage('biases', BIASES_BYTES / 4),
    rawLogits: storage('raw_logits', logitsBytes(config.vocabSize) / 4),
    rawMaxima: storage('raw_maxima', maximaBytes(config.vocabSize) / 4),
    logprobParts: storage('logprob_parts', partsBytes(config.vocabSize) / 4),
    logprobs: storage('logprobs', LOGPROBS_BYTES / 4),
    sampling: gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST),
    status: storage('status', 4),
    ropes: config.ropes.map((_, i) => storage(`rope.${i}`, contextLength * config.headDim)),
  };
}

/** Rows of the widest output that has a norm or scales: q, k and v, or the addends of the residual stream. */
function widestStored(config: ModelConfig, kvType: AttentionShape['kvType']): number {
  const { qkNorm, postNorms, nHeads, nKvHeads, headDim, hiddenSize } = config;
  const storesQkv = qkNorm !== 'none' || kvType === 'q8';
  return Math.max(storesQkv ? (nHeads + 2 * nKvHeads) * headDim : 0, postNorms ? hiddenSize : 0);
}
