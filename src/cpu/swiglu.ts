/** silu(x) = x * sigmoid(x) = x / (1 + exp(-x)). Elfwing et al. 2017, arXiv:1702.03118. */
export function silu(x: number): number {
  return x / (1 + Math.exp(-x));
}

/**
 * h[i] = silu(gate[i]) * up[i]
 *
 * gate, up, result: (intermediate). Shazeer 2020, arXiv:2002.05202.
 */
export function swiglu(gate: Float32Array, up: Float32Array): Float32Array {
  const h = new Float32Array(gate.length);
  for (let i = 0; i < gate.length; i++) h[i] = silu(gate[i]) * up[i];
  return h;
}
