// The LLaMA forward pass, top to bottom: one token in, logits out. Touvron et al. 2023, arXiv:2302.13971.

import { InvalidRequestError } from '../errors';
import { attention } from './attention';
import { linear } from './linear';
import { rmsNorm } from './rms_norm';
import { applyRope, type RopeParameters, type Rotary, ropeTable } from './rope';
import { swiglu } from './swiglu';

export interface CpuLlamaConfig {
  vocabSize: number;
  hiddenSize: number;
  intermediateSize: number;
  nLayers: number;
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  rmsNormEps: number;
  rope: RopeParameters;
  rotary: Rotary;
}

/** Matrices are (n_out, n_in), row-major. */
export interface CpuLayer {
  attnNorm: Float32Array | null; // (hidden)
  wq: Float32Array; // (n_heads * head_dim, hidden)
  wk: Float32Array; // (n_kv_heads * head_dim, hidden)
  wv: Float32Array; // (n_kv_heads * head_dim, hidden)
  wo: Float32Array; // (hidden, n_heads * head_dim)
  bq: Float32Array | null;
  bk: Float32Array | null;
  bv: Float32Array | null;
  bo: Float32Array | null;
  qNorm: Float32Array | null; // (head_dim) or (n_heads * head_dim)
  kNorm: Float32Array | null; // (head_dim) or (n_kv_heads * head_dim)
  postAttnNorm: Float32Array | null; // (hidden)
  postMlpNorm: Float32Array | null; // (hidden)
  mlpNorm: Float32Array | null; // (hidden)
  wGate: Float32Array; // (intermediate, hidden)
  wUp: Float32Array; // (intermediate, hidden)
  wDown: Float32Array; // (hidden, intermediate)
  bGate: Float32Array | null;
  bUp: Float32Array | null;
  bDown: Float32Array | null;
}

export interface CpuWeights {
  embedding: Float32Array; // (vocab, hidden)
  layers: CpuLayer[];
  finalNorm: Float32Array; // (hidden)
  /** (vocab, hidden); the same array as `embedding` when the two are tied. */
  head: Float32Array;
}

export class CpuLlama {
  readonly #config: CpuLlamaConfig;
  readonly #weights: CpuWeights;
  readonly #contextLength: number;
  /** Keys and values of each layer: (context_length, n_kv_heads, head_dim). Rows past the position are dead. */
  readonly #cache: { k: Float32Array; v: Float32Array }[];

  constructor(config: CpuLlamaConfig, weights: CpuWeights, contextLength: number) {
    this.#config = config;
    this.#weights = weights;
    this.#contextLength = contextLength;
    const rows = contextLength * config.nKvHeads * config.headDim;
    this.#cache = weights.layers.map(() => ({ k: new Float32Array(rows), v: new Float32Array(rows) }));
  }

  /** Logits (vocab) after token `id` at `position`; its keys and values replace what the cache held there. */
  forward(id: number, position: number): Float32Array {
    return this.#logits(this.forwardHidden(id, position));
  }

  /** Tokens at `position`, `position` + 1, ...; the logits after the last. The head is computed once. */
  prefill(ids: ArrayLike<number>, position: number): Float32Array {
    if (ids.length === 0) throw new InvalidRequestError('A prefill needs at least one token, got 0.');
    let x = this.forwardHidden(ids[0], position);
    for (let t = 1; t < ids.length; t++) x = this.forwardHidden(ids[t], position + t);
    return this.#logits(x);
  }

  /** The residual stream (hidden) after the last layer, before the final norm. */
  forwardHidden(id: number, position: number): Float32Array {
    const { nHeads, nKvHeads, headDim, hiddenSize, rmsNormEps, rope, rotary } = this.#config;
    this.#check(id, position);
    const cosSin = ropeTable(headDim, rope, 1, position);
    const x = this.#weights.embedding.slice(id * hiddenSize, (id + 1) * hiddenSize);

    for (const [i, layer] of this.#weights.layers.entries()) {
      const cache = this.#cache[i];

      const normed = layer.attnNorm ? rmsNorm(x, layer.attnNorm, rmsNormEps) : x;
      const q = linear(normed, layer.wq, layer.bq);
      const k = linear(normed, layer.wk, layer.bk);
      const v = linear(normed, layer.wv, layer.bv);
      applyRope(q, cosSin, headDim, rotary);
      applyRope(k, cosSin, headDim, rotary);
      cache.k.set(k, position * k.length);
      cache.v.set(v, position * v.length);
      const attended = attention(q, cache.k, cache.v, { nHeads, nKvHeads, headDim, position });
      add(x, linear(attended, layer.wo, layer.bo));

      const mlpNormed = layer.mlpNorm ? rmsNorm(x, layer.mlpNorm, rmsNormEps) : x;
      const gate = linear(mlpNormed, layer.wGate, layer.bGate);
      const up = linear(mlpNormed, layer.wUp, layer.bUp);
      add(x, linear(swiglu(gate, up), layer.wDown, layer.bDown));
    }
    return x;
  }

  #logits(x: Float32Array): Float32Array {
    return linear(rmsNorm(x, this.#weights.finalNorm, this.#config.rmsNormEps), this.#weights.head, null);
  }

  #check(id: number, position: number): void {
    if (!(Number.isInteger(id) && id >= 0 && id < this.#config.vocabSize)) {
      throw new InvalidRequestError(`Token ${id} is not in the vocabulary of ${this.#config.vocabSize}.`);
    }
    if (!(Number.isInteger(position) && position >= 0 && position < this.#contextLength)) {
      throw new InvalidRequestError(`Position ${position} is outside the context of ${this.#contextLength} tokens.`);
    }
  }
}

/** x += y, the residual connection. */
function add(x: Float32Array, y: Float32Array): void {
  for (let i = 0; i < x.length; i++) x[i] += y[i];
}
