// The product of a block of q4 with activations in f32, without a conversion and with one shift for 8 weights: or-ed
// into the mantissa of 2^23, a nibble n that begins at bit p is the float 2^23 + n 2^p, and 2^23 + 8 2^p less of it is
// (n - 8) 2^p. Both are exact, and so is x times 2^-p, which makes up for it. Beside q4.wgsl.
const PLACES = vec4(1.0, 0.0625, 0.00390625, 0.000244140625);   // 2^-p of p = 0, 4, 8, 12
const PLACED_ZEROS = vec4(8388616.0, 8388736.0, 8390656.0, 8421376.0);

// Quads a to d meet the lower half of a word, e to h its upper half.
fn arranged(v: Block) -> Block {
  return Block(
    vec4(v.a.x, v.e.x, v.a.y, v.e.y) * PLACES, vec4(v.b.x, v.f.x, v.b.y, v.f.y) * PLACES,
    vec4(v.c.x, v.g.x, v.c.y, v.g.y) * PLACES, vec4(v.d.x, v.h.x, v.d.y, v.h.y) * PLACES,
    vec4(v.a.z, v.e.z, v.a.w, v.e.w) * PLACES, vec4(v.b.z, v.f.z, v.b.w, v.f.w) * PLACES,
    vec4(v.c.z, v.g.z, v.c.w, v.g.w) * PLACES, vec4(v.d.z, v.h.z, v.d.w, v.h.w) * PLACES,
  );
}

fn placed(word: u32) -> vec4<f32> {
  let bits = (vec4(word) & vec4(0xfu, 0xf0u, 0xf00u, 0xf000u)) | vec4(0x4b000000u);
  return bitcast<vec4<f32>>(bits) - PLACED_ZEROS;
}

// sum_j w[j] x[j] over one block, in f32.
fn product(w: Packed, x: X) -> f32 {
  let late = w.q >> vec4(16u);
  return w.d * block_dot(
    Block(
      placed(w.q.x), placed(w.q.y), placed(w.q.z), placed(w.q.w),
      placed(late.x), placed(late.y), placed(late.z), placed(late.w),
    ),
    x.values,
  );
}
