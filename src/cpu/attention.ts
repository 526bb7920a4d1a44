// Attention as the papers write it.

export interface AttentionShape {
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  /** Rows of q. Default 1. */
  nTokens?: number;
  /** Position of row 0 of q. A causal row t sees keys 0 ... position + t. */
  position: number;
  /** Default 1 / sqrt(head_dim). */
  scale?: number;
  /** Cap of every score. Default none. */
  softcap?: number | null;
  /** Number of keys that a row sees on a side, its own included. Default all. */
  window?: number | null;
  /** False: row t also sees the keys after its own, up to those of the last row. Default true. */
  causal?: boolean;
}

/**
 * o[t, h, :] = sum_s softmax_s(cap(scale * q[t, h, :] . k[s, g, :])) * v[s, g, :], g = h / (n_heads / n_kv_heads),
 * over p - window < s <= p for the row at p = position + t, or over p - window < s < p + window without a causal mask,
 *
 * Causal attention with grouped queries: Vaswani et al. 2017, arXiv:1706.03762; Ainslie et al. 2023, arXiv:2305.13245.
 * The window: Jiang et al. 2023, arXiv:2310.06825. The cap: Gemma Team 2024, arXiv:2408.00118. q, result: (n_tokens,
 * n_heads, head_dim); k, v: (at least position + n_tokens, n_kv_heads, head_dim). All sums in f64.
 */
export function attention(q: Float32Array, k: Float32Array, v: Float32Array, shape: AttentionShape): Float32Array {
  const { nHeads, nKvHeads, headDim, position, nTokens = 1, scale = 1 / Math.sqrt(headDim) } = shape;
  const { softcap = null, window = null, causal = true } = shape;
  const kvWidth = nKvHeads * headDim;
  const group = nHeads / nKvHeads;
  const o = new Float32Array(nTokens * nHeads * headDim);
  const scores = new Float64Array(position + nTokens);
  const sums = new Float64Array(headDim);
  for (let t = 0; t < nTokens; t++) {
    const own = position + t;
    const first = window === null ? 0 : Math.max(0, own + 1 - window);
    const kvLen = causal ? own + 1 : Math.min(position + nTokens, own + (window ?? Number.POSITIVE_INFINITY));
    for (let h = 0; h < nHeads; h++) {
      const row = (t * nHeads + h) * headDim;
      const kvHead = Math.floor(h / group) * headDim;

      let max = -Infinity;
      for (let s = first; s < kvLen; s++) {
        const key = s * kvWidth + kvHead;
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += q[row + d] * k[key + d];
        const score = dot * scale;
        scores[s] = softcap === null ? score : softcap * Math.tanh(score / softcap);
        max = Math.max(max, scores[s]);
      }

      let sum = 0;
      sums.fill(0);
      for (let s = first; s < kvLen; s++) {
        const p = Math.exp(scores[s] - max);
        const value = s * kvWidth + kvHead;
        for (let d = 0; d < headDim; d++) sums[d] += p * v[value + d];
        sum += p;
      }
      for (let d = 0; d < headDim; d++) o[row + d] = sums[d] / sum;
    }
  }
  return o;
}
