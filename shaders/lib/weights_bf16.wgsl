// bfloat16, two to a word: the upper half of a float32, so that unpacking is a shift. A block is four vec4<u32>.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 4)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // unused

fn quad(lo: u32, hi: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4(lo << 16u, lo & 0xffff0000u, hi << 16u, hi & 0xffff0000u));
}

fn weight_block(block: u32) -> Block {
  let i = block * 4u;
  let p = weights[i];
  let q = weights[i + 1u];
  let r = weights[i + 2u];
  let s = weights[i + 3u];
  return Block(
    quad(p.x, p.y), quad(p.z, p.w), quad(q.x, q.y), quad(q.z, q.w),
    quad(r.x, r.y), quad(r.z, r.w), quad(s.x, s.y), quad(s.z, s.w),
  );
}
