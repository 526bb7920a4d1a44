// Q2_K: the two bits of a block's 32 elements in two words, as linear/weights/q2_k.wgsl wants them; scales and minima
// as they are. Source: ggml-common.h and ggml-quants.c, block_q2_K.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;   // (part_rows, BLOCKS, 2)
@group(0) @binding(3) var<storage, read_write> scales: array<u32>;    // (part_rows, BLOCKS / 8, 5)

fn move_block(source: u32, block: u32) {
  let byte = source / 8u * BLOCK_BYTES;
  let index = source % 8u;
  let scales_at = block / 8u * 5u;
  if (index % 2u == 0u) { scales[scales_at + index / 2u] = word_at(byte + 2u * index); }
  if (index == 0u) { scales[scales_at + 4u] = word_at(byte + 80u); }
  let quants = byte + 16u + index / 4u * 32u;
  var packed = vec2(0u);
  for (var i = 0u; i < 4u; i++) {
    let quads = vec2(word_at(quants + 8u * i), word_at(quants + 8u * i + 4u));
    packed |= ((quads >> vec2(2u * (index % 4u))) & vec2(0x03030303u)) << vec2(2u * i);
  }
  weights[block * 2u] = packed.x;
  weights[block * 2u + 1u] = packed.y;
}
