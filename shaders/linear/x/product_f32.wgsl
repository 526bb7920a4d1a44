// sum_j w[j] x[j] over one block of any format, in f32.
fn product(w: Packed, x: X) -> f32 { return block_dot(dequantize(w), x.values); }
