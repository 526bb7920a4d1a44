// The blocks of a chunk of file rows, moved to where the kernels read them. One thread moves one block of 32 values;
// blocks of a file may start at any even byte. Constants: BLOCKS (a row), BLOCK_BYTES (a block of the file, of 32
// values or 256).
// Libraries: chunk_rows, and one of repack_*, which defines what a block becomes: move_block(source, block).

fn word_at(byte: u32) -> u32 {   // byte is even
  let low = bytes[byte / 4u];
  if ((byte & 2u) == 0u) { return low; }
  return (low >> 16u) | (bytes[byte / 4u + 1u] << 16u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let source = id.y * groups.x * 64u + id.x;
  let block = part_block(source);
  if (block != NOWHERE) { move_block(source, block); }
}
