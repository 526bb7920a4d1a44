// Two neighbouring values of a key or value as they are stored: two halves in a word.
alias KvPair = u32;
fn kv_pair(y: vec2<f32>) -> KvPair { return pack2x16float(y); }
