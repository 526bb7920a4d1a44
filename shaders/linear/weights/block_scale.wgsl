// The f16 scale of a block, from the scale plane of lib/weights_q*.wgsl.
fn block_scale(block: u32) -> f32 {
  let pair = unpack2x16float(scales[block >> 1u]);
  return select(pair.x, pair.y, (block & 1u) == 1u);
}
