// The product of 16 signed bytes with 16 others, and their sum.
fn dot16(w: vec4<u32>, x: vec4<u32>) -> i32 {
  return dot4I8Packed(w.x, x.x) + dot4I8Packed(w.y, x.y) + dot4I8Packed(w.z, x.z) + dot4I8Packed(w.w, x.w);
}

fn sum16(x: vec4<u32>) -> i32 { return dot16(vec4(0x01010101u), x); }
