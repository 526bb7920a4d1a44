// w[j] = scale * q[j], q signed 8 bits (GGUF Q8_0): a block is two vec4<u32>, its f16 scale in a plane of its own.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 2)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

fn quad(d: f32, q: u32) -> vec4<f32> { return d * vec4<f32>(unpack4xI8(q)); }

fn weight_block(block: u32) -> Block {
  let d = block_scale(block);
  let p = weights[block * 2u];
  let q = weights[block * 2u + 1u];
  return Block(
    quad(d, p.x), quad(d, p.y), quad(d, p.z), quad(d, p.w),
    quad(d, q.x), quad(d, q.y), quad(d, q.z), quad(d, q.w),
  );
}
