// Weights as they are: a block is 32 values in eight vec4<u32>.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 8)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // unused

fn weight_block(block: u32) -> array<vec4<f32>, 8> {
  var w: array<vec4<f32>, 8>;
  for (var i = 0u; i < 8u; i++) { w[i] = bitcast<vec4<f32>>(weights[block * 8u + i]); }
  return w;
}
