// q, k, v = rope(Wq n(x) + bq), rope(Wk n(x) + bk), Wv n(x) + bv with n = RMSNorm; k and v go to the cache in place.
// Epilogue of matvec.wgsl or matmul.wgsl over the stacked rows of Wq, Wk and Wv. Libraries: kv_*, rotary_heads.
@group(0) @binding(4) var<storage, read> rope: array<vec2<f32>>;           // (CONTEXT, HEAD_DIM / 2): cos, sin
@group(0) @binding(5) var<storage, read_write> q: array<vec2<f32>>;        // (n_tokens, N_HEADS, HEAD_DIM / 2)
@group(0) @binding(6) var<storage, read_write> k_cache: array<KvPair>;     // (N_KV_HEADS, ROOM, HEAD_DIM / 2)
@group(0) @binding(7) var<storage, read_write> v_cache: array<KvPair>;     // (N_KV_HEADS, ROOM, HEAD_DIM / 2)

fn fetch(token: u32, row: u32) -> vec2<f32> { return angle_of(token, row); }

fn emit(token: u32, row: u32, y: vec2<f32>, cs: vec2<f32>) { put_pair(token, row, y, cs); }
