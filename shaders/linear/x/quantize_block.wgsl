// Magnitudes are compared by their bits, which order as the numbers do, NaN above infinity: a max of floats may lose a
// NaN, and the bytes of its block would look sound. So a NaN or an infinity makes d, and all products with it, NaN or
// infinite.
fn magnitudes(v: vec4<f32>) -> vec4<u32> { return bitcast<vec4<u32>>(v) & vec4(0x7fffffffu); }

// d of a block of 32 whose largest magnitude is `most`, and 1 / d; where most is below ZERO_BELOW the block is zero.
fn block_d(most: u32) -> vec2<f32> {
  let m = bitcast<f32>(most);
  return select(vec2(m / 127.0, 127.0 / m), vec2(0.0), most < bitcast<u32>(ZERO_BELOW));
}

fn quantize_quad(v: vec4<f32>, inverse_d: f32) -> u32 { return pack4xI8(vec4<i32>(round(v * inverse_d))); }
