// product(w, x) = sum_j w[j] x[j] over one block, w = d q + m: d times integer products, and m times the sum of x.
// The sum is the same for all rows that share the block. Libraries: dot16.
fn product(w: Packed, x: X) -> f32 {
  let dots = dot32(low_bytes(w.q), high_bytes(w.q), x.low, x.high);
  return x.d * (w.d * f32(dots) + w.m * f32(sum16(x.low) + sum16(x.high)));
}
