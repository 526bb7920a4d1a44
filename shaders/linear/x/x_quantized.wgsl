// A block of activations in signed bytes, x[j] = d * q[j]: elements 0 to 15, 16 to 31, and what an RMSNorm needs of it.
struct X { low: vec4<u32>, high: vec4<u32>, d: f32, square: f32 }
