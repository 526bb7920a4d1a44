// w[j] = d * q[j] + m, q unsigned 4 bits (GGUF Q4_1, Q4_K), or 5 where FIVE_BITS (Q5_1, Q5_K).
// Four bits: a block is one vec4<u32>, element j in the low nibble of byte j, element 16 + j in the high one. Five
// bits: four blocks are four such vec4<u32>, and one with a word of fifth bits for each block; elements 4 i .. 4 i + 3
// have theirs in bit i of the word's four bytes. Constants: FIVE_BITS. Libraries: quants, and affine_block or affine_k.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS), or (rows * BLOCKS / 4, 5)

alias Scale = vec2<f32>;   // d, m

struct Packed { nibbles: vec4<u32>, fifth: u32, d: f32, m: f32 }

struct Raw { nibbles: vec4<u32>, fifth: u32, header: Header }

fn load_raw(block: u32) -> Raw {
  if (!FIVE_BITS) { return Raw(weights[block], 0u, load_header(block)); }
  let four = block / 4u * 5u;
  return Raw(weights[four + block % 4u], weights[four + 4u][block % 4u], load_header(block));
}

fn packed(raw: Raw, block: u32) -> Packed {
  let scale = affine_of(raw.header, block);
  return Packed(raw.nibbles, raw.fifth, scale.x, scale.y);
}

// Elements 0 to 15 in bytes.
fn low_bytes(w: Packed) -> vec4<u32> {
  let nibbles = w.nibbles & vec4(0x0f0f0f0fu);
  if (!FIVE_BITS) { return nibbles; }
  return nibbles | ((vec4(w.fifth) << vec4(4u, 3u, 2u, 1u)) & vec4(0x10101010u));
}

// Elements 16 to 31.
fn high_bytes(w: Packed) -> vec4<u32> {
  let nibbles = (w.nibbles >> vec4(4u)) & vec4(0x0f0f0f0fu);
  if (!FIVE_BITS) { return nibbles; }
  return nibbles | ((vec4(w.fifth) >> vec4(0u, 1u, 2u, 3u)) & vec4(0x10101010u));
}

fn quad(w: Packed, bytes: u32) -> vec4<f32> { return w.d * vec4<f32>(unpack4xU8(bytes)) + w.m; }

fn dequantize(w: Packed) -> Block {
  let low = low_bytes(w);
  let high = high_bytes(w);
  return Block(
    quad(w, low.x), quad(w, low.y), quad(w, low.z), quad(w, low.w),
    quad(w, high.x), quad(w, high.y), quad(w, high.z), quad(w, high.w),
  );
}

fn unpack(w: Packed) -> Quants { return Quants(low_bytes(w), high_bytes(w), vec2(w.d, w.m)); }

// d times integer products, and m times the sum of x, which is the same for all rows that share the block.
fn scaled_dot(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32) -> f32 {
  return d * (w.d.x * dot32(w.low, w.high, low, high) + w.d.y * sum32(low, high));
}

fn scaled_dot_halves(w: Quants, low: vec4<u32>, high: vec4<u32>, d: vec2<f32>) -> f32 {
  let products = vec2(dot16(w.low, low), dot16(w.high, high));
  return w.d.x * dot(d, products) + w.d.y * dot(d, vec2(sum16(low), sum16(high)));
}
