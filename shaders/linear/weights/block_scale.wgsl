// One f16 scale a block, two to a word of the scale plane: what q4.wgsl and q8.wgsl share.
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

alias Scale = f32;

fn scale_pair(block: u32) -> u32 { return scales[block / 2u]; }

fn scale_of(pair: u32, block: u32) -> f32 {
  let d = unpack2x16float(pair);
  return select(d.x, d.y, (block & 1u) == 1u);
}

fn scaled_dot(w: Quants, low: vec4<u32>, high: vec4<u32>, d: f32) -> f32 {
  return w.d * d * dot32(w.low, w.high, low, high);
}

fn scaled_dot_halves(w: Quants, low: vec4<u32>, high: vec4<u32>, d: vec2<f32>) -> f32 {
  return w.d * (d.x * dot16(w.low, low) + d.y * dot16(w.high, high));
}
