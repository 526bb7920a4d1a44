// w[j] = d * q[j] + m, q unsigned (GGUF Q4_1, Q5_1, Q4_K, Q5_K). Libraries: weights_nibbles or weights_five_bits; affine_*.
struct Packed { q: Stored, d: f32, m: f32 }

fn load_packed(block: u32) -> Packed {
  let q = load_stored(block);
  let affine = affine_of(block);
  return Packed(q, affine.x, affine.y);
}

fn quad(w: Packed, bytes: u32) -> vec4<f32> { return w.d * vec4<f32>(unpack4xU8(bytes)) + w.m; }

fn dequantize(w: Packed) -> Block {
  let low = low_bytes(w.q);
  let high = high_bytes(w.q);
  return Block(
    quad(w, low.x), quad(w, low.y), quad(w, low.z), quad(w, low.w),
    quad(w, high.x), quad(w, high.y), quad(w, high.z), quad(w, high.w),
  );
}
