// bfloat16, two to a word: the upper half of a float32, so that unpacking is a shift. A block is four vec4<u32>.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 4)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // unused

fn unpack_bf16(a: u32, b: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4(a << 16u, a & 0xffff0000u, b << 16u, b & 0xffff0000u));
}

fn weight_block(block: u32) -> array<vec4<f32>, 8> {
  var w: array<vec4<f32>, 8>;
  for (var i = 0u; i < 4u; i++) {
    let q = weights[block * 4u + i];
    w[2u * i] = unpack_bf16(q.x, q.y);
    w[2u * i + 1u] = unpack_bf16(q.z, q.w);
  }
  return w;
}
