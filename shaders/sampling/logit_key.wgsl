// Keys of logits: u32 that order as the logits do, so that the largest is found with integers (WGSL may assume that no
// f32 is NaN). 0 is no candidate: -Infinity, past the end. NOT_FINITE is above all: NaN, +Infinity. -0 is +0. bits: of
// an f32.
const NOT_FINITE = 0xffffffffu;

fn key_of(bits: u32) -> u32 {
  if ((bits & 0x7f800000u) == 0x7f800000u) { return select(NOT_FINITE, 0u, bits == 0xff800000u); }
  if (bits == 0x80000000u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u);
}

fn logit_of(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7fffffffu, key >= 0x80000000u));
}
