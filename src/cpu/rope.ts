// Rotary position embedding. Su et al. 2021, arXiv:2104.09864.
// Pair j of a head turns by the angle position * inverse_frequency[j]; what "pair j" means is the rotary convention.

/** Which two elements of a head are one pair: j and j + head_dim / 2 (Hugging Face), or 2 j and 2 j + 1 (GGUF llama). */
export type Rotary = 'half' | 'interleaved';

export interface RopeParameters {
  theta: number;
  scaling:
    | null
    | { type: 'linear'; factor: number }
    | {
        type: 'llama3';
        factor: number;
        lowFreqFactor: number;
        highFreqFactor: number;
        originalContextLength: number;
      };
  /** `rope_freqs.weight` of a GGUF, (head_dim / 2): each inverse frequency is divided by its factor. */
  factors?: Float32Array | null;
}

/**
 * inverse_frequency[j] = theta^(-2 j / head_dim), then the scaling of the model. Result: (head_dim / 2).
 *
 * llama3 (transformers, modeling_rope_utils.py): with w = 2 pi / inverse_frequency the wavelength in tokens and
 * s = (original_context / w - low) / (high - low), short waves (s > 1) stay, long waves (s < 0) are divided by `factor`,
 * and those between are mixed: (1 - s) * f / factor + s * f.
 */
export function inverseFrequencies(headDim: number, rope: RopeParameters): Float64Array {
  const frequencies = new Float64Array(headDim / 2);
  for (let j = 0; j < frequencies.length; j++) {
    const scaled = scale(rope.theta ** ((-2 * j) / headDim), rope.scaling);
    frequencies[j] = rope.factors ? scaled / rope.factors[j] : scaled;
  }
  return frequencies;
}

function scale(frequency: number, scaling: RopeParameters['scaling']): number {
  if (scaling === null) return frequency;
  if (scaling.type === 'linear') return frequency / scaling.factor;
  const { factor, lowFreqFactor: low, highFreqFactor: high, originalContextLength } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < originalContextLength / high) return frequency;
  if (wavelength > originalContextLength / low) return frequency / factor;
  const s = (originalContextLength / wavelength - low) / (high - low);
  return ((1 - s) * frequency) / factor + s * frequency;
}

/**
 * cos and sin of every angle, computed in f64. Result: (n_positions, head_dim / 2, 2), cos before sin,
 * for the positions first, first + 1, ... first + n_positions - 1.
 */
export function ropeTable(headDim: number, rope: RopeParameters, nPositions: number, first = 0): Float32Array {
  const frequencies = inverseFrequencies(headDim, rope);
  const table = new Float32Array(nPositions * headDim);
  for (let t = 0; t < nPositions; t++) {
    for (let j = 0; j < frequencies.length; j++) {
      const angle = (first + t) * frequencies[j];
      table[t * headDim + 2 * j] = Math.cos(angle);
      table[t * headDim + 2 * j + 1] = Math.sin(angle);
    }
  }
  return table;
}

/**
 * Turns every pair (a, b) of every head, in place: (a, b) -> (a cos - b sin, b cos + a sin).
 *
 * x: (n_heads, head_dim) of one token; cosSin: (head_dim / 2, 2), that token's row of `ropeTable`.
 */
export function applyRope(x: Float32Array, cosSin: Float32Array, headDim: number, rotary: Rotary): void {
  const half = headDim / 2;
  for (let head = 0; head < x.length; head += headDim) {
    for (let j = 0; j < half; j++) {
      const ia = rotary === 'half' ? head + j : head + 2 * j;
      const ib = rotary === 'half' ? ia + half : ia + 1;
      const a = x[ia];
      const b = x[ib];
      const cos = cosSin[2 * j];
      const sin = cosSin[2 * j + 1];
      x[ia] = a * cos - b * sin;
      x[ib] = b * cos + a * sin;
    }
  }
}
