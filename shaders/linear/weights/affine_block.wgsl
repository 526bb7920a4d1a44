// d and m of a block of 32, both f16 (GGUF Q4_1, Q5_1).
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS): d in the low half

fn affine_of(block: u32) -> vec2<f32> { return unpack2x16float(scales[block]); }
