// The product of a block of q8 with activations in f32, as in q4_placed.wgsl: a byte with its top bit flipped is
// q + 128, and at bit 0 or 8 of the mantissa of 2^23 it is exact. Beside q8.wgsl.
const PLACES = vec4(1.0, 0.00390625, 1.0, 0.00390625);   // 2^-p of p = 0 and 8
const PLACED_ZEROS = vec4(8388736.0, 8421376.0, 8388736.0, 8421376.0);

fn arranged(v: Block) -> Block {
  return Block(
    v.a * PLACES, v.b * PLACES, v.c * PLACES, v.d * PLACES, v.e * PLACES, v.f * PLACES, v.g * PLACES, v.h * PLACES,
  );
}

fn placed(word: u32) -> vec4<f32> {
  let bytes = word ^ 0x80808080u;
  let bits = (vec4(vec2(bytes), vec2(bytes >> 16u)) & vec4(0xffu, 0xff00u, 0xffu, 0xff00u)) | vec4(0x4b000000u);
  return bitcast<vec4<f32>>(bits) - PLACED_ZEROS;
}

// sum_j w[j] x[j] over one block, in f32.
fn product(w: Packed, x: X) -> f32 {
  return w.d * block_dot(
    Block(
      placed(w.low.x), placed(w.low.y), placed(w.low.z), placed(w.low.w),
      placed(w.high.x), placed(w.high.y), placed(w.high.z), placed(w.high.w),
    ),
    x.values,
  );
}
