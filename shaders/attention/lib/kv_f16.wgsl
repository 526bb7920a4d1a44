// Neighboring values of a key or value as they are stored, two halves to a word: a pair as it is written, four or eight
// as they are read. Values past the largest half become it: WGSL leaves open what else they would be, and an infinity
// makes NaN of a softmax.
const LARGEST_HALF = vec2(65504.0);

alias KvPair = u32;
fn kv_pair(y: vec2<f32>) -> KvPair { return pack2x16float(clamp(y, -LARGEST_HALF, LARGEST_HALF)); }

alias KvQuad = vec2<u32>;
fn kv_quad(x: KvQuad) -> vec4<f32> { return vec4(unpack2x16float(x.x), unpack2x16float(x.y)); }

struct Oct { a: vec4<f32>, b: vec4<f32> }
alias KvOct = vec4<u32>;
fn kv_oct(x: KvOct) -> Oct { return Oct(kv_quad(x.xy), kv_quad(x.zw)); }
