// The activations of a matvec, already quantized: one row in the layout of elementwise/quantize_activations.wgsl.
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;    // (BLOCKS, 2) bytes, then (BLOCKS) f32 d

fn prepare_x(lid: u32) {}

fn load_x(block: u32) -> X {
  let d = BLOCKS * 8u + block;   // in words
  return X(x[block * 2u], x[block * 2u + 1u], bitcast<f32>(x[d / 4u][d % 4u]), 0.0);
}
