// Two neighboring values of a key or value as they are stored: two floats.
alias KvPair = vec2<f32>;
fn kv_pair(y: vec2<f32>) -> KvPair { return y; }
