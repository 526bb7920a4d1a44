// The LLaMA forward pass, top to bottom: one token in, logits out. Touvron et al. 2023, arXiv:2302.13971. The config
// names the differences of other architectures: Gemma 2, arXiv:2408.00118; OLMo 2, arXiv:2501.00656; and others.

import { InvalidRequestError } from '../errors';
import { applyRope } from './apply_rope';
import { attention } from './attention';
import { type Activation, gatedUnit } from './gated_unit';
import { linear } from './linear';
import { roundedToBytes } from './quantize_activations';
import { rmsNorm } from './rms_norm';
import { type RopeFactors, type RopeParameters, type Rotary, ropeTable, rotaryDimOf, withRopeFactors } from './rope';

/** The fields of a model's config that the pass needs. ModelConfig (model/config/config.ts) explains them. */
export interface CpuLlamaConfig {
  vocabSize: number;
  hiddenSize: number;
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  rmsNormEps: number;
  normOffset: number;
  ropes: readonly RopeParameters[];
  rotary: Rotary;
  layers: readonly { rope: number | null; window: number | null }[];
  activation: Activation;
  embeddingScale: number;
  attentionScale: number;
  attentionSoftcap: number | null;
  residualScale: number;
  logitScale: number;
  logitSoftcap: number | null;
  causal: boolean;
}

/** Matrices are (n_out, n_in), row-major. */
interface CpuLayer {
  attnNorm: Float32Array | null; // (hidden); null without this norm, here and below
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
  /** (vocab, hidden); the same array as `embedding` if the two are tied. */
  head: Float32Array;
  /** The RoPE factors of a GGUF, or null where config.ropes is complete. */
  ropeFactors: RopeFactors | null;
  /** (n_out, n_in) each: the linear layers behind the pooling. */
  dense: readonly Float32Array[];
}

/** Keys and values of a layer: (tokens, n_kv_heads, head_dim). */
interface KvRows {
  k: Float32Array;
  v: Float32Array;
}

/** Sees the numbers that an operation computed. */
type Watch = (where: string, values: Float32Array) => void;

export class CpuLlama {
  private readonly config: CpuLlamaConfig;
  private readonly weights: CpuWeights;
  private readonly contextLength: number;
  private readonly ropes: readonly RopeParameters[];
  /** Keys and values of each layer: (context_length, n_kv_heads, head_dim). Rows past the position are stale. */
  private readonly cache: readonly KvRows[];

  constructor(
    config: CpuLlamaConfig,
    weights: CpuWeights,
    contextLength: number,
    /** q8: keys and values are kept as signed bytes would keep them, with a scale for each head's. */
    private readonly kvType: 'f32' | 'q8' = 'f32',
  ) {
    this.config = config;
    this.weights = weights;
    this.contextLength = contextLength;
    const { ropeFactors } = weights;
    this.ropes = config.ropes.map((rope) => (ropeFactors ? withRopeFactors(rope, ropeFactors) : rope));
    const rows = contextLength * config.nKvHeads * config.headDim;
    this.cache = weights.layers.map(() => ({ k: new Float32Array(rows), v: new Float32Array(rows) }));
  }

  /** Copies of the keys and values of the first `tokens` positions, of each layer: those of the cache, or of a copy. */
  park(tokens: number, rows: readonly KvRows[] = this.cache): readonly KvRows[] {
    const size = tokens * this.config.nKvHeads * this.config.headDim;
    return rows.map(({ k, v }) => ({ k: k.slice(0, size), v: v.slice(0, size) }));
  }

  /** Copies the first `tokens` positions of parked keys and values back. */
  restore(parked: readonly KvRows[], tokens: number): void {
    const size = tokens * this.config.nKvHeads * this.config.headDim;
    for (const [i, { k, v }] of this.cache.entries()) {
      k.set(parked[i].k.subarray(0, size));
      v.set(parked[i].v.subarray(0, size));
    }
  }

  /** Keys and values of `tokens` positions from `first` on: those of all layers in turn, keys before values. */
  readRows(first: number, tokens: number): Float32Array<ArrayBuffer> {
    const width = this.config.nKvHeads * this.config.headDim;
    const rows = new Float32Array(2 * this.cache.length * tokens * width);
    for (const [i, row] of this.cache.flatMap(({ k, v }) => [k, v]).entries()) {
      rows.set(row.subarray(first * width, (first + tokens) * width), i * tokens * width);
    }
    return rows;
  }

  /** Puts back what `readRows` gave. */
  writeRows(first: number, tokens: number, rows: Float32Array): void {
    const width = this.config.nKvHeads * this.config.headDim;
    for (const [i, row] of this.cache.flatMap(({ k, v }) => [k, v]).entries()) {
      row.set(rows.subarray(i * tokens * width, (i + 1) * tokens * width), first * width);
    }
  }

  /** Logits (vocab) after token `id` at `position`. Its keys and values replace those of the cache at that position. */
  forward(id: number, position: number): Float32Array {
    return this.logits(this.forwardHidden(id, position));
  }

  /** Runs tokens at `position`, `position` + 1, ... and returns the logits after the last. Computes the head once. */
  prefill(ids: ArrayLike<number>, position: number): Float32Array {
    if (ids.length === 0) throw new InvalidRequestError('A prefill needs at least one token, got 0.');
    let x = this.forwardHidden(ids[0], position);
    for (let t = 1; t < ids.length; t++) x = this.forwardHidden(ids[t], position + t);
    return this.logits(x);
  }

  /** The residual stream (hidden) after the last layer, before the final norm. */
  forwardHidden(id: number, position: number): Float32Array {
    return this.forwardRows([id], position)[0];
  }

  /** The vectors (hidden) of tokens at `position`, `position` + 1, ... after the final norm. */
  vectors(ids: ArrayLike<number>, position: number): Float32Array[] {
    return this.forwardRows(Array.from(ids), position).map((x) => this.norm(x, this.weights.finalNorm));
  }

  /** The first operation that computes a NaN or an infinity when the ids run from position 0, or null. */
  firstNotFinite(ids: ArrayLike<number>): string | null {
    let found: string | null = null;
    const watch: Watch = (where, values) => {
      if (found === null && !values.every(Number.isFinite)) found = where;
    };
    for (let t = 0; t < ids.length && found === null; t++) {
      const [x] = this.forwardRows([ids[t]], t, watch);
      if (t === ids.length - 1) watch('the head', this.logits(x));
    }
    return found;
  }

  /** The residual stream of each token after the last layer. Layer by layer, since tokens may see those after them. */
  private forwardRows(ids: readonly number[], position: number, watch: Watch = () => {}): Float32Array[] {
    const { hiddenSize, embeddingScale, residualScale } = this.config;
    for (const [t, id] of ids.entries()) this.check(id, position + t);
    const rows = ids.map((id) => {
      const x = this.weights.embedding.slice(id * hiddenSize, (id + 1) * hiddenSize);
      return x.map((value) => value * embeddingScale);
    });
    for (const x of rows) watch('the embedding', x);
    const cosSins = this.ropes.map((rope) =>
      ids.map((_, t) => ropeTable(this.config.headDim, rope, 1, position + t, this.contextLength)),
    );
    for (const [i, layer] of this.weights.layers.entries()) {
      const queries = rows.map((x, t) => this.qkv(x, i, position + t, (rope) => cosSins[rope][t]));
      const attended = this.attend(queries, i, position);
      for (const [t, x] of rows.entries()) {
        watch(`layer ${i}, queries`, queries[t]);
        watch(`layer ${i}, attention`, attended[t]);
        add(x, this.norm(linear(attended[t], layer.wo, layer.bo), layer.postAttnNorm), residualScale);
        watch(`layer ${i}, after attention`, x);
        add(x, this.norm(this.mlp(this.norm(x, layer.mlpNorm), layer), layer.postMlpNorm), residualScale);
        watch(`layer ${i}, after the MLP`, x);
      }
    }
    return rows;
  }

  /** q of a token in layer i. Its k and v replace those of the cache at its position. */
  private qkv(
    x: Float32Array,
    i: number,
    position: number,
    cosSin: (rope: number) => Float32Array<ArrayBufferLike>,
  ): Float32Array {
    const { headDim, rotary, layers } = this.config;
    const layer = this.weights.layers[i];
    const normed = this.norm(x, layer.attnNorm);
    const q = this.norm(linear(normed, layer.wq, layer.bq), layer.qNorm);
    const k = this.norm(linear(normed, layer.wk, layer.bk), layer.kNorm);
    const v = linear(normed, layer.wv, layer.bv);
    const { rope } = layers[i];
    if (rope !== null) {
      const rotaryDim = rotaryDimOf(headDim, this.ropes[rope]);
      applyRope(q, cosSin(rope), headDim, rotary, rotaryDim);
      applyRope(k, cosSin(rope), headDim, rotary, rotaryDim);
    }
    this.cache[i].k.set(this.kept(k), position * k.length);
    this.cache[i].v.set(this.kept(v), position * v.length);
    return q;
  }

  /** Keys or values of a token, as the cache has them. */
  private kept(rows: Float32Array): Float32Array {
    return this.kvType === 'q8' ? roundedToBytes(rows, this.config.headDim) : rows;
  }

  /** Attention of each query in layer i, the first of which is at `position`. */
  private attend(queries: readonly Float32Array[], i: number, position: number): Float32Array[] {
    const { nHeads, nKvHeads, headDim, attentionScale: scale, attentionSoftcap: softcap, layers, causal } = this.config;
    const { window } = layers[i];
    const size = nHeads * headDim;
    const q = new Float32Array(queries.length * size);
    for (const [t, query] of queries.entries()) q.set(query, t * size);
    const shape = { nHeads, nKvHeads, headDim, nTokens: queries.length, position, scale, softcap, window, causal };
    const out = attention(q, this.cache[i].k, this.cache[i].v, shape);
    return queries.map((_, t) => out.subarray(t * size, (t + 1) * size));
  }

  private mlp(x: Float32Array, layer: CpuLayer): Float32Array {
    const gate = linear(x, layer.wGate, layer.bGate);
    const up = linear(x, layer.wUp, layer.bUp);
    return linear(gatedUnit(this.config.activation, gate, up), layer.wDown, layer.bDown);
  }

  /** cap(logit_scale * head(norm(x))), with cap(y) = softcap * tanh(y / softcap). */
  private logits(x: Float32Array): Float32Array {
    const { logitScale, logitSoftcap } = this.config;
    const logits = linear(this.norm(x, this.weights.finalNorm), this.weights.head, null);
    for (let i = 0; i < logits.length; i++) {
      const logit = logitScale * logits[i];
      logits[i] = logitSoftcap === null ? logit : logitSoftcap * Math.tanh(logit / logitSoftcap);
    }
    return logits;
  }

  private norm(x: Float32Array, weight: Float32Array | null): Float32Array {
    return weight === null ? x : rmsNorm(x, weight, this.config.rmsNormEps, this.config.normOffset);
  }

  private check(id: number, position: number): void {
    if (!(Number.isInteger(id) && id >= 0 && id < this.config.vocabSize)) {
      throw new InvalidRequestError(`Token ${id} is not in the vocabulary of ${this.config.vocabSize}.`);
    }
    if (!(Number.isInteger(position) && position >= 0 && position < this.contextLength)) {
      throw new InvalidRequestError(`Position ${position} is outside the context of ${this.contextLength} tokens.`);
    }
  }
}

/** x += scale * y, the residual connection. */
function add(x: Float32Array, y: Float32Array, scale: number): void {
  for (let i = 0; i < x.length; i++) x[i] += scale * y[i];
}
