// product(w, x) = sum_j w[j] x[j] over one block: integer products of signed bytes, times the two scales.
fn product(w: Packed, x: X) -> f32 { return w.d * x.d * f32(dot32(w.low, w.high, x.low, x.high)); }
