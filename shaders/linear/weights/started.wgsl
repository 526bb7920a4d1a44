// Formats beside x that has the start of each sum: SUM_BITS less 8 times the sum of its bytes, once for all rows. q4
// needs fewer operations with it (started_q4.wgsl), as do formats with a minimum (started_affine.wgsl); others ignore
// it. Each defines unpack_started, scaled_dot_started and scaled_dot_halves_started, as quants.wgsl says of those
// without.
fn unpack_started(w: Packed) -> Quants { return unpack(w); }

fn scaled_dot_started(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32, start: i32) -> f32 {
  return scaled_dot(w, low, high, d);
}

fn scaled_dot_halves_started(w: Quants, low: vec4<u32>, high: vec4<u32>, d: vec2<f32>, start: vec2<i32>) -> f32 {
  return scaled_dot_halves(w, low, high, d);
}
