// The gated unit of the MLP and its activations.

/** silu(x) = x * sigmoid(x) = x / (1 + exp(-x)). Elfwing et al. 2017, arXiv:1702.03118. */
export function silu(x: number): number {
  return x / (1 + Math.exp(-x));
}

/**
 * gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), the approximation that Gemma uses.
 * Hendrycks and Gimpel 2016, arXiv:1606.08415.
 */
export function geluTanh(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

export type Activation = 'silu' | 'gelu_tanh';

/**
 * h[i] = activation(gate[i]) * up[i]: SwiGLU with silu, GeGLU with gelu.
 *
 * gate, up, result: (intermediate). Shazeer 2020, arXiv:2002.05202.
 */
export function gatedUnit(activation: Activation, gate: Float32Array, up: Float32Array): Float32Array {
  const act = activation === 'silu' ? silu : geluTanh;
  const h = new Float32Array(gate.length);
  for (let i = 0; i < gate.length; i++) h[i] = act(gate[i]) * up[i];
  return h;
}
