// Where the blocks of a chunk of file rows go, one thread a block. Row r of the chunk lands in row
// dst_row0 + rotary(src_row0 + r) * dst_stride: strides interleave gate and up; rotary turns the half convention (pairs
// rotary_dim / 2 apart within the first rotary_dim rows of each head, Hugging Face) into adjacent pairs, where
// rotary_dim is not 0; the other rows of a head stay. Only rows part_row0 .. part_row0 + part_rows
// are bound; a chunk runs once for each part that its rows may fall into. Constants: BLOCKS (a row).
struct Chunk {
  src_row0: u32,
  rows: u32,
  dst_row0: u32,
  dst_stride: u32,
  head_dim: u32,
  rotary_dim: u32,
  part_row0: u32,
  part_rows: u32,
  zero: u32,   // 0, which no compiler knows
}

@group(0) @binding(0) var<uniform> chunk: Chunk;
@group(0) @binding(1) var<storage, read> bytes: array<u32>;                     // the rows of the chunk as in the file

const NOWHERE = 0xffffffffu;

fn rotary(row: u32) -> u32 {
  if (chunk.rotary_dim == 0u) { return row; }
  let j = row % chunk.head_dim;
  if (j >= chunk.rotary_dim) { return row; }
  let half = chunk.rotary_dim / 2u;
  return row - j + select(2u * j, 2u * (j - half) + 1u, j >= half);
}

// Of block `index` of the chunk, among the blocks of the part; NOWHERE past the chunk's end and for blocks of other
// parts.
fn part_block(index: u32) -> u32 {
  if (index >= chunk.rows * BLOCKS) { return NOWHERE; }
  let row = rotary(chunk.src_row0 + index / BLOCKS) * chunk.dst_stride + chunk.dst_row0 - chunk.part_row0;
  if (row >= chunk.part_rows) { return NOWHERE; }   // the difference wraps for rows before the part
  return row * BLOCKS + index % BLOCKS;
}
