// product(w, x) = sum_j w[j] x[j] over one block, in f32.
fn product(w: Packed, x: X) -> f32 { return block_dot(dequantize(w), x.values); }
