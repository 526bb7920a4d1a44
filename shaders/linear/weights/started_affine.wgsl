// Formats with a minimum beside x that has the start of each sum (started.wgsl), which tells the sum of x.
fn unpack_started(w: Packed) -> Quants { return unpack(w); }

fn sum_of(start: i32) -> f32 { return (bitcast<f32>(start) - SUM_ZERO) * -0.125; }

fn scaled_dot_started(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32, start: i32) -> f32 {
  return d * (w.d.x * dot32(w.low, w.high, low, high) + w.d.y * sum_of(start));
}

fn scaled_dot_halves_started(w: Quants, low: vec4<u32>, high: vec4<u32>, d: vec2<f32>, start: vec2<i32>) -> f32 {
  let products = vec2(dot16(w.low, low), dot16(w.high, high));
  return w.d.x * dot(d, products) + w.d.y * dot(d, vec2(sum_of(start.x), sum_of(start.y)));
}
