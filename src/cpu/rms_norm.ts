// Room cpu: the textbook forward pass in plain loops, the oracle of every test and the backend without WebGPU.
// It must not share code with a kernel, tile, or be clever: each file is one operation as the papers write it.

/**
 * y[i] = x[i] * weight[i] / sqrt(mean(x^2) + eps)
 *
 * x, weight, result: (hidden). Zhang and Sennrich 2019, arXiv:1910.07467, with eps inside the root as in LLaMA.
 */
export function rmsNorm(x: Float32Array, weight: Float32Array, eps: number): Float32Array {
  let sumSquares = 0;
  for (let i = 0; i < x.length; i++) sumSquares += x[i] * x[i];
  const scale = 1 / Math.sqrt(sumSquares / x.length + eps);
  const y = new Float32Array(x.length);
  for (let i = 0; i < x.length; i++) y[i] = x[i] * scale * weight[i];
  return y;
}
