// Two logits of products: cap(SCALE * y). Constants: SCALE, and SOFTCAP: cap(y) = SOFTCAP * tanh(y / SOFTCAP), or y
// where it is 0.
fn logit_pair(product: vec2<f32>) -> vec2<f32> {
  let y = SCALE * product;
  if (SOFTCAP == 0.0) { return y; }
  // Some drivers have no tanh of large values. A NaN or an infinity stays what it is.
  let capped = SOFTCAP * tanh(clamp(y / SOFTCAP, vec2(-10.0), vec2(10.0)));
  return select(capped, y, (bitcast<vec2<u32>>(y) & vec2(0x7f800000u)) == vec2(0x7f800000u));
}
