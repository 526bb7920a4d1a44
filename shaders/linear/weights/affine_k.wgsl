// d and m of a block of 32, from what 256 values share (GGUF Q4_K, Q5_K): two f16 and 12 bytes of 6-bit scales and
// minima, those of blocks 4 to 7 in the nibbles of the last four bytes and the top bits of the others. Source:
// ggml-quants.c, get_scale_min_k4.
@group(0) @binding(1) var<storage, read> scales: array<vec4<u32>>;   // (rows, BLOCKS / 8)

alias Header = vec4<u32>;

fn load_header(block: u32) -> Header { return scales[block / 8u]; }

fn affine_of(header: Header, block: u32) -> vec2<f32> {
  let shift = block % 4u * 8u;
  let first = header.yz >> vec2(shift);
  let last = header.w >> shift;
  let late = vec2(last & 15u, (last >> 4u) & 15u) | ((first >> vec2(2u)) & vec2(0x30u));
  let steps = vec2<f32>(select(first & vec2(63u), late, block % 8u >= 4u));
  return unpack2x16float(header.x) * vec2(steps.x, -steps.y);
}
