// weights[dst_row, block, :] = payload of block (row, block) of the file; its f16 scale goes to the scale plane.
// One thread moves one block of 32 values. Blocks of a file may start at any even byte (Q8_0: 34 bytes, Q4_0: 18).
// Constants: BLOCKS (a row), PAYLOAD_WORDS (a block), SCALED. Libraries: chunk_rows.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;             // (part_rows, BLOCKS, PAYLOAD_WORDS)
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;      // (part_rows, BLOCKS) halves, zero at first

const BLOCK_BYTES = PAYLOAD_WORDS * 4u + select(0u, 2u, SCALED);

fn word_at(byte: u32) -> u32 {   // byte is even
  let low = bytes[byte / 4u];
  if ((byte & 2u) == 0u) { return low; }
  return (low >> 16u) | (bytes[byte / 4u + 1u] << 16u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let index = id.y * groups.x * 64u + id.x;
  let block = part_block(index);
  if (block == NOWHERE) { return; }
  var byte = index * BLOCK_BYTES;
  if (SCALED) {
    // Two blocks share a word of the scale plane: or-ing keeps the neighbour's half.
    atomicOr(&scales[block / 2u], (word_at(byte) & 0xffffu) << (16u * (block & 1u)));
    byte += 2u;
  }
  for (var i = 0u; i < PAYLOAD_WORDS; i++) { weights[block * PAYLOAD_WORDS + i] = word_at(byte + 4u * i); }
}
