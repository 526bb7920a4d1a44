// product(w, x) = sum_j w[j] x[j] over one block, whose halves have scales of their own. Libraries: dot16.
fn product(w: Packed, x: X) -> f32 {
  return x.d * (w.d.x * f32(dot16(low_bytes(w), x.low)) + w.d.y * f32(dot16(high_bytes(w), x.high)));
}
