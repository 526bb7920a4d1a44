// A block of 32 weights as bytes, for products in integers: elements 0 to 15, elements 16 to 31, and the scale.
// The format's file defines Raw, the words of a block as they are stored; Packed, which has its scales apart; Scale;
// load_raw(block) -> Raw; packed(raw, block) -> Packed; unpack(w: Packed) -> Quants; and
// scaled_dot(w, low, high, d) = sum_j w[j] x[j] over one block, x[j] = d times the signed bytes in low and high;
// scaled_dot_halves has one d for elements 0 to 15 and one for elements 16 to 31.
struct Quants { low: vec4<u32>, high: vec4<u32>, d: Scale }

fn load_packed(block: u32) -> Packed { return packed(load_raw(block), block); }

// A sum of less than 2^22 in magnitude plus SUM_BITS has the bits of the float SUM_ZERO plus that sum, exactly: less
// work than a conversion, and the first addend costs nothing.
const SUM_BITS = 0x4b400000;
const SUM_ZERO = 12582912.0;

// SUM_ZERO plus the dot product of 16 signed bytes and 16 others.
fn raised_dot16(w: vec4<u32>, x: vec4<u32>) -> f32 {
  return bitcast<f32>(SUM_BITS
    + dot4I8Packed(w.x, x.x) + dot4I8Packed(w.y, x.y) + dot4I8Packed(w.z, x.z) + dot4I8Packed(w.w, x.w));
}

fn dot16(w: vec4<u32>, x: vec4<u32>) -> f32 { return raised_dot16(w, x) - SUM_ZERO; }

// SUM_ZERO plus the dot product of two blocks of 32 signed bytes, elements 0 to 15 and 16 to 31 of each. The product is
// at most 32 * 128 * 127 in magnitude.
fn raised_dot32(w_low: vec4<u32>, w_high: vec4<u32>, x_low: vec4<u32>, x_high: vec4<u32>) -> f32 {
  return bitcast<f32>(SUM_BITS
    + dot4I8Packed(w_low.x, x_low.x) + dot4I8Packed(w_low.y, x_low.y)
    + dot4I8Packed(w_low.z, x_low.z) + dot4I8Packed(w_low.w, x_low.w)
    + dot4I8Packed(w_high.x, x_high.x) + dot4I8Packed(w_high.y, x_high.y)
    + dot4I8Packed(w_high.z, x_high.z) + dot4I8Packed(w_high.w, x_high.w));
}

fn dot32(w_low: vec4<u32>, w_high: vec4<u32>, x_low: vec4<u32>, x_high: vec4<u32>) -> f32 {
  return raised_dot32(w_low, w_high, x_low, x_high) - SUM_ZERO;
}

const ONES = vec4(0x01010101u);
fn sum16(x: vec4<u32>) -> f32 { return dot16(ONES, x); }
fn sum32(low: vec4<u32>, high: vec4<u32>) -> f32 { return dot32(ONES, ONES, low, high); }
