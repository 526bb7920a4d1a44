// F32, F16, BF16, Q8_0, Q4_0: the quants stay as they are, the f16 scale goes to the scale plane.
// Constants: PAYLOAD_WORDS (a block), SCALED.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;             // (part_rows, BLOCKS, PAYLOAD_WORDS)
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;  // (part_rows, BLOCKS) halves, zero at first

fn move_block(source: u32, block: u32) {
  var byte = source * BLOCK_BYTES;
  if (SCALED) {
    // Two blocks share a word of the scale plane: or-ing keeps the neighbor's half.
    atomicOr(&scales[block / 2u], (word_at(byte) & 0xffffu) << (16u * (block & 1u)));
    byte += 2u;
  }
  for (var i = 0u; i < PAYLOAD_WORDS; i++) { weights[block * PAYLOAD_WORDS + i] = word_at(byte + 4u * i); }
}
