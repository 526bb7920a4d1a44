// The activation of a gate: SiLU (Elfwing et al. 2017), or where GELU_TANH, GELU by its tanh approximation (Hendrycks
// and Gimpel 2016). Some drivers make no number of the tanh of a large value; that of 10 is 1 in f32. Constants:
// GELU_TANH.
fn activation(x: f32) -> f32 {
  if (!GELU_TANH) { return x / (1.0 + exp(-x)); }
  let u = 0.7978845608 * (x + 0.044715 * x * x * x);   // sqrt(2 / pi)
  return 0.5 * x * (1.0 + tanh(clamp(u, -10.0, 10.0)));
}
