// Four neighboring values of a key or value as they are stored: four halves in two words.
alias KvQuad = vec2<u32>;
fn kv_quad(x: KvQuad) -> vec4<f32> { return vec4(unpack2x16float(x.x), unpack2x16float(x.y)); }
