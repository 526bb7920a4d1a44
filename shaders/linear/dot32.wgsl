// The product of two blocks of 32 signed bytes, elements 0 to 15 and 16 to 31 of each. At most 32 * 128 * 127 in magnitude,
// which an f32 holds exactly.
fn dot32(w_low: vec4<u32>, w_high: vec4<u32>, x_low: vec4<u32>, x_high: vec4<u32>) -> i32 {
  return dot4I8Packed(w_low.x, x_low.x) + dot4I8Packed(w_low.y, x_low.y)
    + dot4I8Packed(w_low.z, x_low.z) + dot4I8Packed(w_low.w, x_low.w)
    + dot4I8Packed(w_high.x, x_high.x) + dot4I8Packed(w_high.y, x_high.y)
    + dot4I8Packed(w_high.z, x_high.z) + dot4I8Packed(w_high.w, x_high.w);
}
