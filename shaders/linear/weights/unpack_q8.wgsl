// A block of weights_q8.wgsl in signed bytes, for matmul_q8.wgsl: as it is.
fn unpack(w: Packed) -> Quants { return Quants(w.low, w.high, w.d); }
