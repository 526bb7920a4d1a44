// Q6_K, and Q3_K (THREE_BITS) in its place: w = d * scale * (q - 32) and d * (scale - 32) * (q - 4) are both d times a
// signed byte times an integer from -32 to 31. Source: ggml-common.h and ggml-quants.c, block_q6_K and block_q3_K. To
// linear/weights/q6_k.wgsl.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;   // (part_rows, BLOCKS / 2, 12)
@group(0) @binding(3) var<storage, read_write> scales: array<u32>;    // (part_rows, BLOCKS / 8, 5)

// Four neighboring elements of block `index` of the 256 that begin at `byte`, as bytes from 0 to 63.
fn six_bits(byte: u32, index: u32, quad: u32) -> u32 {
  let half = index / 4u;   // 128 elements
  if (THREE_BITS) {
    let low = (word_at(byte + 32u + half * 32u + 4u * quad) >> (2u * (index % 4u))) & 0x03030303u;
    let third = (word_at(byte + 4u * quad) >> index) & 0x01010101u;
    return 0x1c1c1c1cu + low + (third << 2u);   // less 4 is 28 less 32
  }
  let low = (word_at(byte + half * 64u + index % 2u * 32u + 4u * quad) >> (index / 2u % 2u * 4u)) & 0x0f0f0f0fu;
  let high = (word_at(byte + 128u + half * 32u + 4u * quad) >> (2u * (index % 4u))) & 0x03030303u;
  return low | (high << 4u);
}

// Scales 4 i .. 4 i + 3 of the 16, in signed bytes.
fn four_scales(byte: u32, i: u32) -> u32 {
  if (!THREE_BITS) { return word_at(byte + 192u + 4u * i); }
  let low = (word_at(byte + 96u + 4u * (i % 2u)) >> (i / 2u * 4u)) & 0x0f0f0f0fu;
  let high = (word_at(byte + 104u) >> (2u * i)) & 0x03030303u;
  let flipped = (low | (high << 4u)) ^ 0x20202020u;   // less 32
  let sign = flipped & 0x20202020u;
  return flipped | (sign << 1u) | (sign << 2u);
}

fn move_block(source: u32, block: u32) {
  let byte = source / 8u * BLOCK_BYTES;
  let index = source % 8u;
  let scales_at = block / 8u * 5u;
  if (index % 2u == 0u) { scales[scales_at + index / 2u] = four_scales(byte, index / 2u); }
  if (index == 0u) { scales[scales_at + 4u] = word_at(byte + select(208u, 108u, THREE_BITS)) & 0xffffu; }
  let pair = block / 2u * 12u;
  var high = vec2(0u);
  for (var i = 0u; i < 4u; i++) {
    let a = six_bits(byte, index, i);
    let b = six_bits(byte, index, i + 4u);
    weights[pair + block % 2u * 4u + i] = (a & 0x0f0f0f0fu) | ((b & 0x0f0f0f0fu) << 4u);
    high |= ((vec2(a, b) >> vec2(4u)) & vec2(0x03030303u)) << vec2(2u * i);
  }
  weights[pair + 8u + block % 2u * 2u] = high.x;
  weights[pair + 9u + block % 2u * 2u] = high.y;
}
