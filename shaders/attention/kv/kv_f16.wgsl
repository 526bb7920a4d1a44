// Neighboring values of a key or value as they are stored, two halves to a word: a pair as it is written, four or eight
// as they are read. Values past the largest half become it: WGSL leaves open what else they would be, and an infinity
// makes NaN of a softmax. A pair with a NaN or an infinity becomes NaN by its bits: a clamp may make a number of it.
const LARGEST_HALF = vec2(65504.0);

alias KvPair = u32;
fn kv_pair(y: vec2<f32>) -> KvPair {
  let magnitudes = bitcast<vec2<u32>>(y) & vec2(0x7fffffffu);
  let finite = max(magnitudes.x, magnitudes.y) < 0x7f800000u;
  return select(0x7e007e00u, pack2x16float(clamp(y, -LARGEST_HALF, LARGEST_HALF)), finite);
}

alias KvQuad = vec2<u32>;
fn kv_quad(x: KvQuad) -> vec4<f32> { return vec4(unpack2x16float(x.x), unpack2x16float(x.y)); }

struct Oct { a: vec4<f32>, b: vec4<f32> }
alias KvOct = vec4<u32>;
fn kv_oct(x: KvOct) -> Oct { return Oct(kv_quad(x.xy), kv_quad(x.zw)); }
fn kv_low(x: KvOct) -> KvQuad { return x.xy; }
fn kv_high(x: KvOct) -> KvQuad { return x.zw; }
fn kv_oct_of(a: KvPair, b: KvPair, c: KvPair, d: KvPair) -> KvOct { return vec4(a, b, c, d); }
// A quad as pairs of words, and back.
const QUAD_PAIRS = 1u;
fn kv_pairs(x: KvQuad, i: u32) -> vec2<u32> { return x; }
fn kv_quad_of(first: vec2<u32>, last: vec2<u32>) -> KvQuad { return first; }
