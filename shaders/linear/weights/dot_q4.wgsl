// product(w, x) = sum_j w[j] x[j] over one block: integer products of signed bytes, times the two scales. A nibble less 8 becomes
// a signed byte, 16 times too large, in two operations: moved into the high half of its byte, and the top bit flipped.
fn product(w: Packed, x: X) -> f32 {
  let mask = vec4(0xf0f0f0f0u);
  let sign = vec4(0x80808080u);
  let low = ((w.q << vec4(4u)) & mask) ^ sign;
  let high = (w.q & mask) ^ sign;
  return w.d / 16.0 * x.d * f32(dot32(low, high, x.low, x.high));
}
