// A block of weights_q4.wgsl in signed bytes, for matmul_q8.wgsl. A nibble less 8 becomes one, 16 times too large, in two
// operations: moved into the high half of its byte, and the top bit flipped. The scale makes up for it.
fn unpack(w: Packed) -> Quants {
  let mask = vec4(0xf0f0f0f0u);
  let sign = vec4(0x80808080u);
  return Quants(((w.q << vec4(4u)) & mask) ^ sign, (w.q & mask) ^ sign, w.d / 16.0);
}
