// The oracle of every sibling: the textbook of src/cpu, fed from caches in the layout of the kernels.

import type { AttentionShape } from '../../src/attention/attention';
import { attention as attentionCpu } from '../../src/cpu/attention';

/** k, v: (nKvHeads, contextLength, headDim), as the kernels read them after rounding to the cache's type. */
export function attentionRef(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  shape: AttentionShape,
  step: { position: number; nTokens: number; window?: number | null },
): Float32Array {
  const kvLen = step.position + step.nTokens;
  return attentionCpu(q, tokensFirst(k, shape, kvLen), tokensFirst(v, shape, kvLen), { ...shape, ...step });
}

/** (nKvHeads, contextLength, headDim) to (kvLen, nKvHeads, headDim). */
function tokensFirst(cache: Float32Array, shape: AttentionShape, kvLen: number): Float32Array {
  const { nKvHeads, contextLength, headDim } = shape;
  const rows = new Float32Array(kvLen * nKvHeads * headDim);
  for (let s = 0; s < kvLen; s++) {
    for (let h = 0; h < nKvHeads; h++) {
      const from = (h * contextLength + s) * headDim;
      rows.set(cache.subarray(from, from + headDim), (s * nKvHeads + h) * headDim);
    }
  }
  return rows;
}
