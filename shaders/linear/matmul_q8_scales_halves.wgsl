// A scale for each half of a block of weights, for matmul_q8.wgsl. Libraries: lowered.
alias XScale = f32;
alias XScales = vec4<f32>;   // of four tokens

fn x_scale(x: XQuants) -> XScale { return x.d; }

fn x_scales(a: XScale, b: XScale, c: XScale, d: XScale) -> XScales { return vec4(a, b, c, d); }

fn products(w: Quants, x: Tokens) -> vec4<f32> {
  let low = vec4(
    raised_dot16(w.low, x.low0), raised_dot16(w.low, x.low1),
    raised_dot16(w.low, x.low2), raised_dot16(w.low, x.low3),
  );
  let high = vec4(
    raised_dot16(w.high, x.high0), raised_dot16(w.high, x.high1),
    raised_dot16(w.high, x.high2), raised_dot16(w.high, x.high3),
  );
  return x.d * (lowered(low, w.d.x) + lowered(high, w.d.y));
}
