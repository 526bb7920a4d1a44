// w[j] = scale * q[j], q signed 8 bits (GGUF Q8_0): a block is two vec4<u32>, its f16 scale in a plane of its own.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 2)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

fn block_scale(block: u32) -> f32 {
  return unpack2x16float(scales[block >> 1u])[block & 1u];
}

fn weight_block(block: u32) -> array<vec4<f32>, 8> {
  var w: array<vec4<f32>, 8>;
  let d = block_scale(block);
  let a = weights[block * 2u];
  let b = weights[block * 2u + 1u];
  for (var i = 0u; i < 4u; i++) {
    w[i] = d * vec4<f32>(unpack4xI8(a[i]));
    w[i + 4u] = d * vec4<f32>(unpack4xI8(b[i]));
  }
  return w;
}
