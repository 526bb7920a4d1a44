// w[j] = d * scale * q[j] - dmin * minimum, q unsigned 2 bits; scale and minimum, 4 bits each, for 16 values, d and
// dmin for 256 (GGUF Q2_K). Two blocks are one vec4<u32>: of a block's two words, elements 8 i .. 8 i + 3 have bits 2 i
// and 2 i + 1 of the first one's four bytes, elements 8 i + 4 .. 8 i + 7 those of the second's.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS / 2)
@group(0) @binding(1) var<storage, read> scales: array<u32>;  // (rows, BLOCKS / 8, 5): 16 bytes, then d and dmin as f16

// d and m: of elements 0 to 15 and of 16 to 31; w = d * q + m.
struct Packed { q: vec2<u32>, d: vec2<f32>, m: vec2<f32> }

fn load_packed(block: u32) -> Packed {
  let pair = weights[block / 2u];
  let at = block / 8u * 5u;
  let both = vec2(scales[at + block % 8u / 2u] >> (block % 2u * 16u)) >> vec2(0u, 8u);
  let d = unpack2x16float(scales[at + 4u]);
  return Packed(
    select(pair.xy, pair.zw, block % 2u == 1u),
    d.x * vec2<f32>(both & vec2(15u)),
    -d.y * vec2<f32>((both >> vec2(4u)) & vec2(15u)),
  );
}

fn quad(d: f32, m: f32, word: u32) -> vec4<f32> { return d * vec4<f32>(unpack4xU8(word & 0x03030303u)) + m; }

fn dequantize(w: Packed) -> Block {
  let low = w.q >> vec2(2u);
  let high = w.q >> vec2(4u);
  let last = w.q >> vec2(6u);
  return Block(
    quad(w.d.x, w.m.x, w.q.x), quad(w.d.x, w.m.x, w.q.y), quad(w.d.x, w.m.x, low.x), quad(w.d.x, w.m.x, low.y),
    quad(w.d.y, w.m.y, high.x), quad(w.d.y, w.m.y, high.y), quad(w.d.y, w.m.y, last.x), quad(w.d.y, w.m.y, last.y),
  );
}
