// softcap(t) = C tanh(t / C) of a score t in units of log2, with C = log2(e) SOFTCAP; before the mask (Gemma 2,
// arXiv:2408.00118). By tanh(x) = 1 - 2 / (1 + exp(2 x)): WGSL lets its own be off by 1e-5, which C multiplies, and
// some drivers' overflows. Above 64 the quotient is nothing beside C; no min, which may make a number of a NaN.
// Constants: SOFTCAP, 1 in models without a cap; CAPPED, false in those.
const CAP = 1.4426950408889634 * SOFTCAP;

fn softcap4(t: vec4<f32>) -> vec4<f32> {
  if (!CAPPED) { return t; }
  let u = t * (2 / SOFTCAP);
  return CAP - 2 * CAP / (1 + exp2(select(u, vec4(64.0), u > vec4(64.0))));
}
fn softcap(t: f32) -> f32 { return softcap4(vec4(t)).x; }
