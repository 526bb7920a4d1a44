// A block of weights_affine.wgsl in bytes of up to five bits, for matmul_q8.wgsl.
fn unpack(w: Packed) -> Quants { return Quants(low_bytes(w.q), high_bytes(w.q), vec2(w.d, w.m)); }
