// Unsigned integers of five bits: four blocks are four vec4<u32> of nibbles as in weights_nibbles.wgsl, and one with a word of fifth
// bits for each. Elements 4 i .. 4 i + 3 have theirs in bit i of the word's four bytes.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows * BLOCKS / 4, 5)

struct Stored { nibbles: vec4<u32>, fifth: u32 }

fn load_stored(block: u32) -> Stored {
  let four = block / 4u * 5u;
  return Stored(weights[four + block % 4u], weights[four + 4u][block % 4u]);
}

// Elements 0 to 15 in bytes, and 16 to 31.
fn low_bytes(q: Stored) -> vec4<u32> {
  return (q.nibbles & vec4(0x0f0f0f0fu)) | ((vec4(q.fifth) << vec4(4u, 3u, 2u, 1u)) & vec4(0x10101010u));
}
fn high_bytes(q: Stored) -> vec4<u32> {
  return ((q.nibbles >> vec4(4u)) & vec4(0x0f0f0f0fu)) | ((vec4(q.fifth) >> vec4(0u, 1u, 2u, 3u)) & vec4(0x10101010u));
}
