// Neighboring values of a key or value as they are stored, four signed bytes to a word: four or eight as they are read,
// without the scale of their row (kv_scales_*). Rows are written whole (linear/epilogues/put_rows_q8.wgsl).
alias KvPair = u32;

alias KvQuad = u32;
fn kv_quad(x: KvQuad) -> vec4<f32> { return vec4<f32>(unpack4xI8(x)); }

struct Oct { a: vec4<f32>, b: vec4<f32> }
alias KvOct = vec2<u32>;
fn kv_oct(x: KvOct) -> Oct { return Oct(kv_quad(x.x), kv_quad(x.y)); }
