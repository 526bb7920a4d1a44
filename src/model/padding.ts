// Sizes as the kernels need them. A load pads a model's sizes with zeros to multiples of the kernels' blocks: zero rows
// and columns of matrices, zero weights of norms. Activations beyond the model's own sizes are then zero and change no
// sum.

import { rotaryDimOf } from '../cpu/rope';
import { BLOCK } from '../kernels/linear/weight_format';
import type { ModelConfig } from './config/config';

/** Attention reads heads in eights. */
const HEAD_STEP = 8;

/**
 * An axis of a tensor. Zeros pad each run of `stored` elements to `padded` elements, and all runs together to `size`.
 */
export interface Axis {
  stored: number;
  padded: number;
  size: number;
}

/** A config whose sizes are the padded ones. */
export interface PaddedConfig extends ModelConfig {
  /** Epsilon of the RMSNorm over q and k. rmsNormEps is that of all other norms. */
  qkNormEps: number;
}

const roundUp = (size: number, step: number) => Math.ceil(size / step) * step;

/** Keeps sizes that already fit. Adds whole KV heads, each with its query heads. */
export function padConfig(config: ModelConfig): PaddedConfig {
  const group = config.nHeads / config.nKvHeads;
  const headDim = roundUp(config.headDim, HEAD_STEP);
  let { nKvHeads } = config;
  while ((nKvHeads * group * headDim) % BLOCK !== 0) nKvHeads++;
  const sizes = {
    hiddenSize: roundUp(config.hiddenSize, BLOCK),
    intermediateSize: roundUp(config.intermediateSize, BLOCK),
    nHeads: nKvHeads * group,
    nKvHeads,
    headDim,
  };
  const { hidden, qk } = normShares(config, sizes);
  return {
    ...config,
    ...sizes,
    ropes: config.ropes.map((rope) => ({ ...rope, rotaryDim: rotaryDimOf(config.headDim, rope) })),
    rmsNormEps: config.rmsNormEps * hidden,
    qkNormEps: config.rmsNormEps * qk,
  };
}

type Sizes = Pick<ModelConfig, 'hiddenSize' | 'nHeads' | 'headDim' | 'qkNorm'>;

/**
 * The share s of stored elements among the padded ones, whose number the RMSNorm kernels divide by. Because x /
 * sqrt(sum / stored + eps) = sqrt(s) * x / sqrt(sum / padded + s * eps), s goes into eps and sqrt(s) into the weight.
 */
function normShares(config: Sizes, padded: Omit<Sizes, 'qkNorm'>): { hidden: number; qk: number } {
  const { hiddenSize, nHeads, headDim, qkNorm } = config;
  const head = headDim / padded.headDim;
  return {
    hidden: hiddenSize / padded.hiddenSize,
    qk: qkNorm === 'vector' ? (nHeads / padded.nHeads) * head : head,
  };
}

/** The padded axes of a model's tensors, and factors of its norm weights. */
export interface Padding {
  hidden: Axis;
  intermediate: Axis;
  /** Rows of Wq, which are also the columns of Wo. `kv`: rows of Wk and Wv. `head`: weights of one head. */
  q: Axis;
  kv: Axis;
  head: Axis;
  /** Factor of norm weights over the hidden size. `qkTimes`: of norm weights over q and k. */
  hiddenTimes: number;
  qkTimes: number;
}

export function paddingOf(config: ModelConfig, padded: PaddedConfig): Padding {
  const { headDim } = config;
  const whole = (stored: number, size: number): Axis => ({ stored, padded: size, size });
  const heads = (stored: number, size: number): Axis =>
    headDim === padded.headDim
      ? whole(stored * headDim, size * headDim)
      : { stored: headDim, padded: padded.headDim, size: size * padded.headDim };
  const { hidden, qk } = normShares(config, padded);
  return {
    hidden: whole(config.hiddenSize, padded.hiddenSize),
    intermediate: whole(config.intermediateSize, padded.intermediateSize),
    q: heads(config.nHeads, padded.nHeads),
    kv: heads(config.nKvHeads, padded.nKvHeads),
    head: whole(headDim, padded.headDim),
    hiddenTimes: Math.sqrt(hidden),
    qkTimes: Math.sqrt(qk),
  };
}

/** The index among padded elements of the element at `index` of an axis. */
export function paddedIndex(index: number, { stored, padded }: Axis): number {
  return Math.floor(index / stored) * padded + (index % stored);
}

/** Pads `rows` rows of `cols` elements of a plain tensor along `axis`. */
export function padColumns(
  bytes: Uint8Array<ArrayBuffer>,
  rows: number,
  cols: number,
  axis: Axis,
): Uint8Array<ArrayBuffer> {
  const { stored, padded, size } = axis;
  if (cols === size) return bytes;
  const elementBytes = bytes.length / (rows * cols);
  const out = new Uint8Array(rows * size * elementBytes);
  for (let row = 0; row < rows; row++) {
    for (let from = 0, to = 0; from < cols; from += stored, to += padded) {
      const start = (row * cols + from) * elementBytes;
      out.set(bytes.subarray(start, start + stored * elementBytes), (row * size + to) * elementBytes);
    }
  }
  return out;
}
