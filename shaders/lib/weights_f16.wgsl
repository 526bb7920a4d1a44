// IEEE half precision, two to a word: a block is 32 values in four vec4<u32>. Needs no shader-f16.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 4)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // unused

fn weight_block(block: u32) -> array<vec4<f32>, 8> {
  var w: array<vec4<f32>, 8>;
  for (var i = 0u; i < 4u; i++) {
    let q = weights[block * 4u + i];
    w[2u * i] = vec4(unpack2x16float(q.x), unpack2x16float(q.y));
    w[2u * i + 1u] = vec4(unpack2x16float(q.z), unpack2x16float(q.w));
  }
  return w;
}
