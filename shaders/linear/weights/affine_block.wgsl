// d and m of a block of 32, both f16 (GGUF Q4_1, Q5_1).
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS): d in the low half

alias Header = u32;

fn load_header(block: u32) -> Header { return scales[block]; }

fn affine_of(header: Header, block: u32) -> vec2<f32> { return unpack2x16float(header); }
