// w[j] = d * scale * (q[j] - 32), q unsigned 6 bits, a signed scale for 16 values, d for 256 (GGUF Q6_K). Two blocks
// are three vec4<u32>: nibbles of each as in q4.wgsl, then two words of high bits of each, for elements 0 to 15 and 16
// to 31: elements 4 i .. 4 i + 3 of these have theirs in bits 2 i and 2 i + 1 of the word's four bytes. Libraries:
// quants.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS / 2, 3)
@group(0) @binding(1) var<storage, read> scales: array<u32>;  // (rows, BLOCKS / 8, 5): 16 signed bytes, then d as f16

alias Scale = vec2<f32>;   // of elements 0 to 15 and of 16 to 31

// d: a quarter of the scales, since bytes are four times too large.
struct Packed { nibbles: vec4<u32>, high: vec2<u32>, d: Scale }

// highs: of two blocks. steps: the scales of two blocks. d: in the low half.
struct Raw { nibbles: vec4<u32>, highs: vec4<u32>, steps: u32, d: u32 }

fn load_raw(block: u32) -> Raw {
  let pair = block / 2u * 3u;
  let at = block / 8u * 5u;
  return Raw(weights[pair + block % 2u], weights[pair + 2u], scales[at + block % 8u / 2u], scales[at + 4u]);
}

fn packed(raw: Raw, block: u32) -> Packed {
  let both = unpack4xI8(raw.steps >> (block % 2u * 16u)).xy;
  let d = unpack2x16float(raw.d).x / 4.0;
  return Packed(raw.nibbles, select(raw.highs.xy, raw.highs.zw, block % 2u == 1u), d * vec2<f32>(both));
}

// q - 32 becomes a signed byte, four times too large: moved to the top of its byte, and the top bit flipped.
fn low_bytes(w: Packed) -> vec4<u32> {
  let high = (vec4(w.high.x) << vec4(6u, 4u, 2u, 0u)) & vec4(0xc0c0c0c0u);
  return (((w.nibbles << vec4(2u)) & vec4(0x3c3c3c3cu)) | high) ^ vec4(0x80808080u);
}
fn high_bytes(w: Packed) -> vec4<u32> {
  let high = (vec4(w.high.y) << vec4(6u, 4u, 2u, 0u)) & vec4(0xc0c0c0c0u);
  return (((w.nibbles >> vec4(2u)) & vec4(0x3c3c3c3cu)) | high) ^ vec4(0x80808080u);
}

fn quad(d: f32, bytes: u32) -> vec4<f32> { return d * vec4<f32>(unpack4xI8(bytes)); }

fn dequantize(w: Packed) -> Block {
  let low = low_bytes(w);
  let high = high_bytes(w);
  return Block(
    quad(w.d.x, low.x), quad(w.d.x, low.y), quad(w.d.x, low.z), quad(w.d.x, low.w),
    quad(w.d.y, high.x), quad(w.d.y, high.y), quad(w.d.y, high.z), quad(w.d.y, high.w),
  );
}

fn unpack(w: Packed) -> Quants { return Quants(low_bytes(w), high_bytes(w), w.d); }

fn scaled_dot(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32) -> f32 {
  return d * (w.d.x * dot16(w.low, low) + w.d.y * dot16(w.high, high));
}

fn scaled_dot_halves(w: Quants, low: vec4<u32>, high: vec4<u32>, d: vec2<f32>) -> f32 {
  return dot(w.d * d, vec2(dot16(w.low, low), dot16(w.high, high)));
}
