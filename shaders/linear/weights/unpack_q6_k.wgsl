// A block of weights_q6_k.wgsl in signed bytes, for matmul_q8.wgsl.
fn unpack(w: Packed) -> Quants { return Quants(low_bytes(w), high_bytes(w), w.d); }
