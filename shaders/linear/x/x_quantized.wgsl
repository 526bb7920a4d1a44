// A block of activations in signed bytes, x[j] = d * q[j]: elements 0 to 15, 16 to 31, and their part of an RMSNorm's
// sum of squares.
struct X { low: vec4<u32>, high: vec4<u32>, d: f32, square: f32 }

// sum_j w[j] x[j] over one block, in integers.
fn product(w: Packed, x: X) -> f32 { return scaled_dot(unpack(w), x.low, x.high, x.d); }
