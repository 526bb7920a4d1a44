// w = d q + m, for matmul_q8.wgsl: m is multiplied with the sum of a block of x, which is taken once, while x is
// staged. Libraries: lowered.
alias XScale = vec2<f32>;   // d, and d times the sum of the block
struct XScales { d: vec4<f32>, sum: vec4<f32> }   // of four tokens

fn x_scale(x: XQuants) -> XScale { return vec2(x.d, x.d * sum32(x.low, x.high)); }

fn x_scales(a: XScale, b: XScale, c: XScale, d: XScale) -> XScales {
  return XScales(vec4(a.x, b.x, c.x, d.x), vec4(a.y, b.y, c.y, d.y));
}

// Writes the products out, as matmul_q8_scales_one.wgsl does.
fn products(w: Quants, x: Tokens) -> vec4<f32> {
  let dots = vec4(
    raised_dot32(w.low, w.high, x.low0, x.high0),
    raised_dot32(w.low, w.high, x.low1, x.high1),
    raised_dot32(w.low, w.high, x.low2, x.high2),
    raised_dot32(w.low, w.high, x.low3, x.high3),
  );
  return x.d.d * lowered(dots, w.d.x) + w.d.y * x.d.sum;
}
