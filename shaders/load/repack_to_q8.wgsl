// Q5_0 (FIVE_BITS) and IQ4_NL become q8: their integers fit a signed byte, their scale stays. Source: ggml-common.h,
// block_q5_0, block_iq4_nl and kvalues_iq4nl. Libraries: spread_bits.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;             // (part_rows, BLOCKS, 8)
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;  // (part_rows, BLOCKS) halves, zero at first

// -127 -104 -83 -65 | -49 -35 -22 -10 | 1 13 25 38 | 53 69 89 113, the first in the lowest byte.
const VALUES = vec4(0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u);

fn value_of(nibble: u32) -> u32 { return (VALUES[nibble / 4u] >> (8u * (nibble % 4u))) & 0xffu; }

fn values_of(nibbles: u32) -> u32 {
  return value_of(nibbles & 15u) | (value_of((nibbles >> 8u) & 15u) << 8u)
    | (value_of((nibbles >> 16u) & 15u) << 16u) | (value_of(nibbles >> 24u) << 24u);
}

// Bytes of five bits, less 16, in signed bytes.
fn less_16(q: u32) -> u32 {
  let flipped = q ^ 0x10101010u;
  let sign = flipped & 0x10101010u;
  return flipped | (sign << 1u) | (sign << 2u) | (sign << 3u);
}

fn move_block(source: u32, block: u32) {
  let byte = source * BLOCK_BYTES;
  atomicOr(&scales[block / 2u], (word_at(byte) & 0xffffu) << (16u * (block & 1u)));
  let nibbles = byte + select(2u, 6u, FIVE_BITS);
  let fifth = word_at(byte + 2u);
  for (var quad = 0u; quad < 8u; quad++) {
    let q = (word_at(nibbles + 4u * (quad % 4u)) >> (4u * (quad / 4u))) & 0x0f0f0f0fu;
    weights[block * 8u + quad] = select(values_of(q), less_16(q | (spread_bits(fifth >> (4u * quad)) << 4u)), FIVE_BITS);
  }
}
