// q4 beside x that has the start of each sum (started.wgsl): nibbles as they are, 8 too large, which the start makes up
// for. Four weights are two operations, not three.
fn unpack_started(w: Packed) -> Quants {
  let mask = vec4(0x0f0f0f0fu);
  return Quants(w.q & mask, (w.q >> vec4(4u)) & mask, w.d);
}

fn dot16_from(start: i32, w: vec4<u32>, x: vec4<u32>) -> i32 {
  return start + dot4I8Packed(w.x, x.x) + dot4I8Packed(w.y, x.y) + dot4I8Packed(w.z, x.z) + dot4I8Packed(w.w, x.w);
}

fn scaled_dot_started(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32, start: i32) -> f32 {
  let bits = dot16_from(dot16_from(start, w.low, low), w.high, high);
  return w.d * d * (bitcast<f32>(bits) - SUM_ZERO);
}

fn scaled_dot_halves_started(w: Quants, low: vec4<u32>, high: vec4<u32>, d: vec2<f32>, start: vec2<i32>) -> f32 {
  let bits = vec2(dot16_from(start.x, w.low, low), dot16_from(start.y, w.high, high));
  let products = bitcast<vec2<f32>>(bits) - SUM_ZERO;
  return w.d * (d.x * products.x + d.y * products.y);
}
