// w[j] = scale * (q[j] - 8), q unsigned 4 bits (GGUF Q4_0): a block is one vec4<u32>, element j in the low nibble of
// byte j and element 16 + j in the high one, so that masking gives two runs of consecutive quads.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

fn quad(d: f32, nibbles: u32) -> vec4<f32> { return d * (vec4<f32>(unpack4xU8(nibbles & 0x0f0f0f0fu)) - 8.0); }

fn weight_block(block: u32) -> Block {
  let d = block_scale(block);
  let q = weights[block];
  let high = q >> vec4(4u);
  return Block(
    quad(d, q.x), quad(d, q.y), quad(d, q.z), quad(d, q.w),
    quad(d, high.x), quad(d, high.y), quad(d, high.z), quad(d, high.w),
  );
}
