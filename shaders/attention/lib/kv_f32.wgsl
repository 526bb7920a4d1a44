// Four neighboring values of a key or value as they are stored: four floats.
alias KvQuad = vec4<f32>;
fn kv_quad(x: KvQuad) -> vec4<f32> { return x; }
