// Q4_1, Q5_1, Q4_K and Q5_K: nibbles and fifth bits (FIVE_BITS) as in linear/weights/affine.wgsl; d and m
// of a block in a word, or the 16 bytes in front of 256 values (K) as they are. Source: ggml-common.h. Libraries:
// spread_bits.
// (part_rows, BLOCKS, 4), or groups of four blocks: 20 words
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;
// (part_rows, BLOCKS), or (part_rows, BLOCKS / 8, 4)
@group(0) @binding(3) var<storage, read_write> scales: array<u32>;

fn put_nibbles(block: u32, word: u32, nibbles: u32) {
  weights[select(block, block / 4u * 5u + block % 4u, FIVE_BITS) * 4u + word] = nibbles;
}

fn put_fifth(block: u32, bits: u32) { weights[(block / 4u * 5u + 4u) * 4u + block % 4u] = bits; }

fn move_small(byte: u32, block: u32) {
  scales[block] = word_at(byte);
  let nibbles = byte + select(4u, 8u, FIVE_BITS);
  for (var i = 0u; i < 4u; i++) { put_nibbles(block, i, word_at(nibbles + 4u * i)); }
  if (FIVE_BITS) {
    var bits = 0u;
    for (var quad = 0u; quad < 8u; quad++) { bits |= spread_bits(word_at(byte + 4u) >> (4u * quad)) << quad; }
    put_fifth(block, bits);
  }
}

// Block `index` of the 256 values that begin at `byte`: of 32 bytes of nibbles, the low ones if it is even, else the
// high ones.
fn move_k(byte: u32, index: u32, block: u32) {
  if (index == 0u) { for (var i = 0u; i < 4u; i++) { scales[block / 2u + i] = word_at(byte + 4u * i); } }
  let nibbles = byte + select(16u, 48u, FIVE_BITS) + index / 2u * 32u;
  let shift = index % 2u * 4u;
  for (var i = 0u; i < 4u; i++) {
    let low = (word_at(nibbles + 4u * i) >> shift) & 0x0f0f0f0fu;
    let high = (word_at(nibbles + 16u + 4u * i) >> shift) & 0x0f0f0f0fu;
    put_nibbles(block, i, low | (high << 4u));
  }
  if (FIVE_BITS) {
    var bits = 0u;
    for (var quad = 0u; quad < 8u; quad++) { bits |= ((word_at(byte + 16u + 4u * quad) >> index) & 0x01010101u) << quad; }
    put_fifth(block, bits);
  }
}

fn move_block(source: u32, block: u32) {
  if (K) { move_k(source / 8u * BLOCK_BYTES, source % 8u, block); } else { move_small(source * BLOCK_BYTES, block); }
}
