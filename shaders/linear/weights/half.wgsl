// Values of 16 bits, two to a word: IEEE half precision, or bfloat16 where BFLOAT, which is the upper half of a
// float32, so that unpacking is a shift. A block is 32 values in four vec4<u32>. Needs no shader-f16. Constants:
// BFLOAT.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 4)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // unused

fn quad(lo: u32, hi: u32) -> vec4<f32> {
  if (BFLOAT) { return bitcast<vec4<f32>>(vec4(lo << 16u, lo & 0xffff0000u, hi << 16u, hi & 0xffff0000u)); }
  return vec4(unpack2x16float(lo), unpack2x16float(hi));
}

struct Packed { p: vec4<u32>, q: vec4<u32>, r: vec4<u32>, s: vec4<u32> }

fn load_packed(block: u32) -> Packed {
  let i = block * 4u;
  return Packed(weights[i], weights[i + 1u], weights[i + 2u], weights[i + 3u]);
}

fn dequantize(w: Packed) -> Block {
  return Block(
    quad(w.p.x, w.p.y), quad(w.p.z, w.p.w), quad(w.q.x, w.q.y), quad(w.q.z, w.q.w),
    quad(w.r.x, w.r.y), quad(w.r.z, w.r.w), quad(w.s.x, w.s.y), quad(w.s.z, w.s.w),
  );
}
