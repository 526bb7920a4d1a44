// The layers of one token in plain loops, with activations rounded as a decode step rounds them: the textbook of the
// fused step, and of how far signed bytes are from f32.

import type { KvType } from '../../../src/attention/kv_layout';
import { applyRope } from '../../../src/cpu/apply_rope';
import { attention } from '../../../src/cpu/attention';
import { gatedUnit } from '../../../src/cpu/gated_unit';
import { halfToNumber, toHalf } from '../../../src/cpu/half';
import { linear } from '../../../src/cpu/linear';
import type { CpuWeights } from '../../../src/cpu/llama';
import { roundedToBytes } from '../../../src/cpu/quantize_activations';
import { ropeTable, rotaryDimOf, withRopeFactors } from '../../../src/cpu/rope';
import type { ModelConfig } from '../../../src/model/config/config';

/** What becomes of numbers on their way. */
export interface Rounding {
  /** The input of a product. */
  input: (x: Float32Array) => Float32Array;
  /** A number that one workgroup hands to another. */
  word: (x: number) => number;
  /** q of all heads in front of the scores, where keys are signed bytes. */
  q?: (heads: Float32Array, headDim: number) => Float32Array;
}

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

/** x with 16 bits of mantissa: halves away from zero, or up to the next larger magnitude. */
function word24(x: number, to: 'nearest' | 'up'): number {
  float[0] = x;
  bits[0] = (bits[0] + (to === 'nearest' ? 0x80 : 0xff)) & 0xffffff00;
  return float[0];
}

/** Signed bytes times a scale for each block of `size`. */
function toBytes(x: Float32Array, size: number, scaleOf: (largest: number) => number): Float32Array {
  const rounded = new Float32Array(x.length);
  for (let from = 0; from < x.length; from += size) {
    const block = x.subarray(from, from + size);
    const d = scaleOf(Math.fround(block.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127));
    if (d > 1e-30) for (const [i, value] of block.entries()) rounded[from + i] = d * Math.round(value / d);
  }
  return rounded;
}

export const EXACT: Rounding = { input: (x) => x, word: (x) => x };
/** As plain steps round: blocks of 32. */
export const PLAIN: Rounding = { ...EXACT, input: (x) => toBytes(x, 32, (d) => d) };
/** As the fused step rounds: blocks of 16, whose scales travel in words. */
export const FUSED: Rounding = {
  input: (x) => toBytes(x, 16, (d) => word24(d, 'up')),
  word: (x) => word24(x, 'nearest'),
};
/** By lanes, which multiply keys in signed bytes with q in signed bytes. */
export const FUSED_LANES: Rounding = { ...FUSED, q: roundedToBytes };

type Layer = CpuWeights['layers'][number];

export class StepOracle {
  private readonly cache: { k: Float32Array; v: Float32Array }[];

  constructor(
    private readonly config: ModelConfig,
    private readonly weights: CpuWeights,
    private readonly contextLength: number,
    private readonly kvType: KvType,
    private readonly rounding: Rounding,
  ) {
    const size = contextLength * config.nKvHeads * config.headDim;
    this.cache = weights.layers.map(() => ({ k: new Float32Array(size), v: new Float32Array(size) }));
  }

  /** x of the embedding of a token. */
  embed(id: number): Float32Array {
    const { hiddenSize, embeddingScale } = this.config;
    return this.weights.embedding.slice(id * hiddenSize, (id + 1) * hiddenSize).map((x) => x * embeddingScale);
  }

  /** x after each layer. Each layer continues from its own x, or from `given`. */
  step(id: number, position: number, given?: readonly Float32Array[]): Float32Array[] {
    let x = this.embed(id);
    return this.weights.layers.map((layer, i) => {
      x = this.layer(layer, i, given && i > 0 ? given[i - 1] : x, position);
      return x;
    });
  }

  private layer(layer: Layer, index: number, x: Float32Array, position: number): Float32Array {
    const { nHeads, nKvHeads, headDim, residualScale, activation, attentionScale: scale } = this.config;
    const { input, word, q: asked = (heads) => heads } = this.rounding;
    const product = this.normedProduct(x, layer.attnNorm as Float32Array);
    const [q, k, v] = [
      product(layer.wq, layer.bq).map(word),
      product(layer.wk, layer.bk).map(word),
      product(layer.wv, layer.bv).map(word),
    ];
    this.normAndTurn(q, layer.qNorm, position);
    this.normAndTurn(k, layer.kNorm, position);
    const cache = this.cache[index];
    cache.k.set(this.stored(k), position * k.length);
    cache.v.set(this.stored(v), position * v.length);
    const query = this.kvType === 'q8' ? asked(q, headDim) : q;
    const a = attention(query, cache.k, cache.v, { nHeads, nKvHeads, headDim, position, scale });
    const add = (to: Float32Array, y: Float32Array) => to.map((value, i) => value + residualScale * y[i]);
    const x2 = add(x, linear(input(a), layer.wo, null));
    const wide = this.normedProduct(x2, layer.mlpNorm as Float32Array);
    const h = gatedUnit(activation, wide(layer.wGate, null), wide(layer.wUp, null));
    return add(x2, linear(input(h), layer.wDown, null));
  }

  /** Keys or values of a token as the cache has them. */
  private stored(rows: Float32Array): Float32Array {
    if (this.kvType === 'q8') return roundedToBytes(rows, this.config.headDim);
    return this.kvType === 'f16' ? rows.map((value) => halfToNumber(toHalf(value))) : rows;
  }

  /** W n(x) + b. The weight of the norm is multiplied before the rounding, the rest after the product. */
  private normedProduct(x: Float32Array, weight: Float32Array) {
    const { rmsNormEps, normOffset } = this.config;
    const rounded = this.rounding.input(x.map((value, i) => value * (weight[i] + normOffset)));
    const rstd = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + rmsNormEps);
    return (matrix: Float32Array, bias: Float32Array | null) =>
      linear(rounded, matrix, null).map((y, i) => rstd * y + (bias?.[i] ?? 0));
  }

  private normAndTurn(heads: Float32Array, weight: Float32Array | null, position: number): void {
    const { headDim, rmsNormEps, normOffset, rotary, ropes } = this.config;
    const { ropeFactors } = this.weights;
    if (weight !== null) {
      for (let at = 0; at < heads.length; at += headDim) {
        const head = heads.subarray(at, at + headDim);
        const rstd = 1 / Math.sqrt(head.reduce((sum, y) => sum + y * y, 0) / headDim + rmsNormEps);
        for (let i = 0; i < headDim; i++) head[i] *= rstd * (weight[i] + normOffset);
      }
    }
    const rope = ropeFactors ? withRopeFactors(ropes[0], ropeFactors) : ropes[0];
    const angles = ropeTable(headDim, rope, 1, position, this.contextLength);
    applyRope(heads, angles, headDim, rotary, rotaryDimOf(headDim, rope));
  }
}
