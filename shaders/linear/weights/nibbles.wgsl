// Unsigned integers of four bits: a block is one vec4<u32>, element j in the low nibble of byte j, element 16 + j in the high one.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS)

struct Stored { nibbles: vec4<u32> }

fn load_stored(block: u32) -> Stored { return Stored(weights[block]); }

// Elements 0 to 15 in bytes, and 16 to 31.
fn low_bytes(q: Stored) -> vec4<u32> { return q.nibbles & vec4(0x0f0f0f0fu); }
fn high_bytes(q: Stored) -> vec4<u32> { return (q.nibbles >> vec4(4u)) & vec4(0x0f0f0f0fu); }
