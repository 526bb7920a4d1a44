// RMSNorm as the paper writes it.

/**
 * y[r, i] = x[r, i] * (offset + weight[i]) / sqrt(mean(x[r, :]^2) + eps)
 *
 * weight: (size); x, result: (n_rows, size), one row for the residual stream, one for each head of q and k. Zhang and
 * Sennrich 2019, arXiv:1910.07467, with eps inside the root as in LLaMA. Gemma has an offset of 1.
 */
export function rmsNorm(x: Float32Array, weight: Float32Array, eps: number, offset = 0): Float32Array {
  const size = weight.length;
  const y = new Float32Array(x.length);
  for (let row = 0; row < x.length; row += size) {
    let sumSquares = 0;
    for (let i = 0; i < size; i++) sumSquares += x[row + i] * x[row + i];
    const scale = 1 / Math.sqrt(sumSquares / size + eps);
    for (let i = 0; i < size; i++) y[row + i] = x[row + i] * scale * (offset + weight[i]);
  }
  return y;
}
