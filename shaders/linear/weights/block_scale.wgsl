// One f16 scale a block, two to a word of the scale plane: what q4.wgsl and q8.wgsl share.
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

alias Scale = f32;

fn block_scale(block: u32) -> f32 {
  let pair = unpack2x16float(scales[block >> 1u]);
  return select(pair.x, pair.y, (block & 1u) == 1u);
}

fn scaled_dot(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32) -> f32 {
  return w.d * d * f32(dot32(w.low, w.high, low, high));
}
