// Products of bytes without the SUM_ZERO that they were summed with (weights/quants.wgsl), times a scale.
// d (dots - SUM_ZERO): in one operation where an fma rounds once, since SUM_ZERO d is exact for a d of at most 22 bits.
// Constants: ROUNDS_ONCE.
fn lowered(dots: vec4<f32>, d: f32) -> vec4<f32> {
  if (ROUNDS_ONCE) { return fma(dots, vec4(d), vec4(-SUM_ZERO * d)); }
  return d * (dots - SUM_ZERO);
}
