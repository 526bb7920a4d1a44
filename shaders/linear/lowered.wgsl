// Takes SUM_ZERO away from sums of products of bytes (weights/quants.wgsl), and scales them: d (dots - SUM_ZERO). One
// operation where an fma rounds once, since SUM_ZERO d is exact for a d of at most 22 bits.
// Constants: ROUNDS_ONCE, SUM_ZERO.
fn lowered(dots: vec4<f32>, d: f32) -> vec4<f32> {
  if (ROUNDS_ONCE) { return fma(dots, vec4(d), vec4(-SUM_ZERO * d)); }
  return d * (dots - SUM_ZERO);
}
