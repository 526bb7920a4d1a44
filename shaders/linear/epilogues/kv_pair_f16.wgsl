// Two neighboring values of a key or value as they are stored: two halves in a word. Those past the largest half become it: WGSL
// leaves open what else they would be, and an infinity makes NaN of a softmax.
const LARGEST_HALF = vec2(65504.0);

alias KvPair = u32;
fn kv_pair(y: vec2<f32>) -> KvPair { return pack2x16float(clamp(y, -LARGEST_HALF, LARGEST_HALF)); }
