// Neighboring values of a key or value as they are stored, in floats: a pair as it is written, four or eight as they
// are read.
alias KvPair = vec2<f32>;
fn kv_pair(y: vec2<f32>) -> KvPair { return y; }

alias KvQuad = vec4<f32>;
fn kv_quad(x: KvQuad) -> vec4<f32> { return x; }

struct Oct { a: vec4<f32>, b: vec4<f32> }
alias KvOct = Oct;
fn kv_oct(x: KvOct) -> Oct { return x; }
fn kv_low(x: KvOct) -> KvQuad { return x.a; }
fn kv_high(x: KvOct) -> KvQuad { return x.b; }
fn kv_oct_of(a: KvPair, b: KvPair, c: KvPair, d: KvPair) -> KvOct { return Oct(vec4(a, b), vec4(c, d)); }
// A quad as pairs of words, and back.
const QUAD_PAIRS = 2u;
fn kv_pairs(x: KvQuad, i: u32) -> vec2<u32> { return bitcast<vec2<u32>>(select(x.xy, x.zw, i == 1u)); }
fn kv_quad_of(first: vec2<u32>, last: vec2<u32>) -> KvQuad { return bitcast<vec4<f32>>(vec4(first, last)); }
