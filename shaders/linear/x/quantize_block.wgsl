// d of a block of 32 whose largest magnitude is `most`, and 1 / d; where most is below ZERO_BELOW the block is zero.
fn block_d(most: f32) -> vec2<f32> {
  return select(vec2(most / 127.0, 127.0 / most), vec2(0.0), most < ZERO_BELOW);
}

fn quantize_quad(v: vec4<f32>, inverse_d: f32) -> u32 { return pack4xI8(vec4<i32>(round(v * inverse_d))); }
