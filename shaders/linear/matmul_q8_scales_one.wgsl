// One scale a block of weights, for matmul_q8.wgsl: w = d q. Libraries: lowered.
alias XScale = f32;
alias XScales = vec4<f32>;   // of four tokens

fn x_scale(x: XQuants) -> XScale { return x.d; }

fn x_scales(a: XScale, b: XScale, c: XScale, d: XScale) -> XScales { return vec4(a, b, c, d); }

// Writes the products out: in a function of their own they cost 2 % of a prefill of 8B on an H200.
fn products(w: Quants, x: Tokens) -> vec4<f32> {
  let dots = vec4(
    raised_dot32(w.low, w.high, x.low0, x.high0),
    raised_dot32(w.low, w.high, x.low1, x.high1),
    raised_dot32(w.low, w.high, x.low2, x.high2),
    raised_dot32(w.low, w.high, x.low3, x.high3),
  );
  return x.d * lowered(dots, w.d);
}
