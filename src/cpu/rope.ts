// Rotary position embedding. Su et al. 2021, arXiv:2104.09864.
// Pair j of a head turns by the angle position * inverse_frequency[j]. The rotary convention defines the pairs.

import { UnsupportedModelError } from '../errors';

/**
 * Elements of pair j: j and j + rotary_dim / 2 (`half`, Hugging Face), or 2 j and 2 j + 1 (`interleaved`, GGUF llama).
 */
export type Rotary = 'half' | 'interleaved';

/**
 * Scaling of the frequencies theta^(-2 j / rotary_dim). `inverseFrequencies` has the formulas. dynamic and longrope
 * change the frequencies in contexts longer than `originalContextLength`.
 */
export type RopeScaling =
  | { type: 'linear'; factor: number }
  | { type: 'dynamic'; factor: number; originalContextLength: number }
  | {
      type: 'llama3';
      factor: number;
      lowFreqFactor: number;
      highFreqFactor: number;
      originalContextLength: number;
    }
  | {
      type: 'yarn';
      factor: number;
      betaFast: number;
      betaSlow: number;
      /** Rounds the bounds of the ramp outwards to whole pairs. */
      truncate: boolean;
      /** Factor of cos and sin. */
      attentionFactor: number;
      originalContextLength: number;
    }
  | {
      type: 'longrope';
      /** One for each pair. Those of a GGUF are tensors, and the list stays empty until `withRopeFactors`. */
      shortFactors: ArrayLike<number>;
      longFactors: ArrayLike<number>;
      attentionFactor: number;
      originalContextLength: number;
    };

export interface RopeParameters {
  theta: number;
  /** Number of elements of a head that turn, from its first. Default all. */
  rotaryDim?: number;
  scaling: null | RopeScaling;
  /** `rope_freqs.weight` of a GGUF, (rotary_dim / 2). Each divides its inverse frequency. */
  factors?: ArrayLike<number> | null;
}

/** The factors that are tensors of a GGUF, each (rotary_dim / 2) or null. */
export interface RopeFactors {
  /** rope_freqs.weight: llama3 scaling, precomputed. */
  all: Float32Array | null;
  /** rope_factors_short.weight and rope_factors_long.weight: longrope. */
  short: Float32Array | null;
  long: Float32Array | null;
}

/** Parameters completed by the factors of a GGUF's tensors. */
export function withRopeFactors(rope: RopeParameters, { all, short, long }: RopeFactors): RopeParameters {
  const { scaling } = rope;
  if (scaling?.type !== 'longrope') return { ...rope, factors: all };
  const shortFactors = short ?? scaling.shortFactors;
  return { ...rope, factors: all, scaling: { ...scaling, shortFactors, longFactors: long ?? scaling.longFactors } };
}

/** Elements of a head that turn. */
export function rotaryDimOf(headDim: number, rope: RopeParameters): number {
  return rope.rotaryDim ?? headDim;
}

/**
 * inverse_frequency[j] = theta^(-2 j / rotary_dim), then the scaling of the model. Result: (head_dim / 2); pairs past
 * rotary_dim / 2 have 0 and do not turn. `contextLength` is that of the loaded model, not of the conversation: past the
 * original one dynamic and longrope change all frequencies at once, so that cached keys stay valid.
 *
 * Scalings (transformers, modeling_rope_utils.py), with w = 2 pi / inverse_frequency the wavelength in tokens: linear
 * divides by `factor`. dynamic enlarges theta. llama3, with s = (original_context / w - low) / (high - low): short
 * waves (s > 1) stay, long waves (s < 0) are divided by `factor`, and waves between become (1 - s) f / factor + s f.
 * yarn (arXiv:2309.00071) mixes the two likewise, along a ramp over j. longrope (arXiv:2402.13753) divides each by its
 * own factor.
 * @throws UnsupportedModelError when a frequency is not finite
 */
export function inverseFrequencies(headDim: number, rope: RopeParameters, contextLength = 0): Float64Array {
  const dim = rotaryDimOf(headDim, rope);
  const theta =
    rope.scaling?.type === 'dynamic' ? dynamicTheta(rope.theta, dim, rope.scaling, contextLength) : rope.theta;
  const frequencies = new Float64Array(headDim / 2);
  for (let j = 0; j < dim / 2; j++) {
    const plain = theta ** ((-2 * j) / dim);
    const scaled = rope.scaling ? scale(plain, j, dim, rope.theta, rope.scaling, contextLength) : plain;
    frequencies[j] = rope.factors ? scaled / rope.factors[j] : scaled;
    if (!Number.isFinite(frequencies[j])) {
      throw new UnsupportedModelError(`RoPE: frequency ${j} of ${dim / 2} is ${frequencies[j]}; the scaling is wrong.`);
    }
  }
  return frequencies;
}

type Scaling<T extends RopeScaling['type']> = Extract<RopeScaling, { type: T }>;

/** NTK: theta * (factor * context / original - (factor - 1))^(dim / (dim - 2)), past the original context. */
function dynamicTheta(theta: number, dim: number, scaling: Scaling<'dynamic'>, contextLength: number): number {
  const { factor, originalContextLength } = scaling;
  const stretch = Math.max(contextLength, originalContextLength) / originalContextLength;
  return theta * (factor * stretch - (factor - 1)) ** (dim / (dim - 2));
}

function scale(
  frequency: number,
  j: number,
  dim: number,
  theta: number,
  scaling: RopeScaling,
  contextLength: number,
): number {
  switch (scaling.type) {
    case 'linear':
      return frequency / scaling.factor;
    case 'dynamic':
      return frequency;
    case 'llama3':
      return llama3(frequency, scaling);
    case 'yarn':
      return yarn(frequency, j, dim, theta, scaling);
    case 'longrope': {
      const isLong = contextLength > scaling.originalContextLength;
      return frequency / (isLong ? scaling.longFactors : scaling.shortFactors)[j];
    }
  }
  return scaling satisfies never;
}

function llama3(frequency: number, scaling: Scaling<'llama3'>): number {
  const { factor, lowFreqFactor: low, highFreqFactor: high, originalContextLength } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < originalContextLength / high) return frequency;
  if (wavelength > originalContextLength / low) return frequency / factor;
  const s = (originalContextLength / wavelength - low) / (high - low);
  return ((1 - s) * frequency) / factor + s * frequency;
}

/**
 * Keeps pairs that turn more than beta_fast times over the original context, divides those below beta_slow turns by
 * `factor`.
 */
function yarn(frequency: number, j: number, dim: number, theta: number, scaling: Scaling<'yarn'>): number {
  const { factor, betaFast, betaSlow, truncate, originalContextLength } = scaling;
  /** The pair that turns this many times over the original context. */
  const pairOf = (turns: number) =>
    (dim * Math.log(originalContextLength / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const low = Math.max(truncate ? Math.floor(pairOf(betaFast)) : pairOf(betaFast), 0);
  const high = Math.min(truncate ? Math.ceil(pairOf(betaSlow)) : pairOf(betaSlow), dim - 1);
  const ramp = Math.min(1, Math.max(0, (j - low) / (high === low ? 0.001 : high - low)));
  return ramp * (frequency / factor) + (1 - ramp) * frequency;
}

/**
 * cos and sin of every angle, computed in f64, times the attention factor of yarn and longrope. Result: (n_positions,
 * head_dim / 2, 2), cos before sin, for positions first, first + 1, ... first + n_positions - 1 of a model with
 * `contextLength`.
 */
export function ropeTable(
  headDim: number,
  rope: RopeParameters,
  nPositions: number,
  first = 0,
  contextLength = first + nPositions,
): Float32Array {
  const frequencies = inverseFrequencies(headDim, rope, contextLength);
  const nTurned = rotaryDimOf(headDim, rope) / 2;
  const factor = rope.scaling && 'attentionFactor' in rope.scaling ? rope.scaling.attentionFactor : 1;
  const table = new Float32Array(nPositions * headDim);
  for (let t = 0; t < nPositions; t++) {
    for (let j = 0; j < frequencies.length; j++) {
      const angle = (first + t) * frequencies[j];
      const amount = j < nTurned ? factor : 1; // elements that do not turn are not scaled either
      table[t * headDim + 2 * j] = amount * Math.cos(angle);
      table[t * headDim + 2 * j + 1] = amount * Math.sin(angle);
    }
  }
  return table;
}
