// w[j] = scale * (q[j] - 8), q unsigned 4 bits (GGUF Q4_0): a block is one vec4<u32>, element j in the low nibble of
// byte j and element 16 + j in the high one, so that masking gives two runs of consecutive quads.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

fn block_scale(block: u32) -> f32 {
  return unpack2x16float(scales[block >> 1u])[block & 1u];
}

fn weight_block(block: u32) -> array<vec4<f32>, 8> {
  var w: array<vec4<f32>, 8>;
  let d = block_scale(block);
  let q = weights[block];
  for (var i = 0u; i < 4u; i++) {
    w[i] = d * (vec4<f32>(unpack4xU8(q[i] & 0x0f0f0f0fu)) - 8.0);
    w[i + 4u] = d * (vec4<f32>(unpack4xU8((q[i] >> 4u) & 0x0f0f0f0fu)) - 8.0);
  }
  return w;
}
