// Neighboring values of a key or value as they are stored, in floats: a pair as it is written, four or eight as they
// are read.
alias KvPair = vec2<f32>;
fn kv_pair(y: vec2<f32>) -> KvPair { return y; }

alias KvQuad = vec4<f32>;
fn kv_quad(x: KvQuad) -> vec4<f32> { return x; }

struct Oct { a: vec4<f32>, b: vec4<f32> }
alias KvOct = Oct;
fn kv_oct(x: KvOct) -> Oct { return x; }
