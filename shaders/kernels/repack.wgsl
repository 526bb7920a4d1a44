// weights[dst_row, block, :] = payload of block (row, block) of the file; its f16 scale goes to the scale plane.
// One thread moves one block of 32 values. Blocks of a file may start at any even byte (Q8_0: 34 bytes, Q4_0: 18).
// Row r of the chunk lands in row dst_row0 + rotary(src_row0 + r) * dst_stride: strides interleave gate and up; rotary
// turns the half convention (pairs HEAD_DIM / 2 apart, Hugging Face) into adjacent pairs, where rotary_dim is not 0. Only
// rows part_row0 .. part_row0 + part_rows are bound; a chunk runs once for each part that its rows may fall into.
// Constants: BLOCKS (a row), PAYLOAD_WORDS (a block), SCALED.
struct Chunk {
  src_row0: u32,
  rows: u32,
  dst_row0: u32,
  dst_stride: u32,
  rotary_dim: u32,
  part_row0: u32,
  part_rows: u32,
}

@group(0) @binding(0) var<uniform> chunk: Chunk;
@group(0) @binding(1) var<storage, read> bytes: array<u32>;                     // the rows of the chunk as in the file
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;             // (part_rows, BLOCKS, PAYLOAD_WORDS)
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;      // (part_rows, BLOCKS) halves, zero at first

const BLOCK_BYTES = PAYLOAD_WORDS * 4u + select(0u, 2u, SCALED);

fn rotary(row: u32) -> u32 {
  if (chunk.rotary_dim == 0u) { return row; }
  let j = row % chunk.rotary_dim;
  let half = chunk.rotary_dim / 2u;
  return row - j + select(2u * j, 2u * (j - half) + 1u, j >= half);
}

fn word_at(byte: u32) -> u32 {   // byte is even
  let low = bytes[byte / 4u];
  if ((byte & 2u) == 0u) { return low; }
  return (low >> 16u) | (bytes[byte / 4u + 1u] << 16u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let index = id.y * groups.x * 64u + id.x;
  if (index >= chunk.rows * BLOCKS) { return; }
  let row = rotary(chunk.src_row0 + index / BLOCKS) * chunk.dst_stride + chunk.dst_row0 - chunk.part_row0;
  if (row >= chunk.part_rows) { return; }   // of another part; the difference wraps for rows before this one
  let block = row * BLOCKS + index % BLOCKS;
  var byte = index * BLOCK_BYTES;
  if (SCALED) {
    // Two blocks share a word of the scale plane: or-ing keeps the neighbour's half.
    atomicOr(&scales[block / 2u], (word_at(byte) & 0xffffu) << (16u * (block & 1u)));
    byte += 2u;
  }
  for (var i = 0u; i < PAYLOAD_WORDS; i++) { weights[block * PAYLOAD_WORDS + i] = word_at(byte + 4u * i); }
}
