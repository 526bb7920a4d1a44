// q, k, v = rope(Wq n(x) + bq), rope(Wk n(x) + bk), Wv n(x) + bv with n = RMSNorm; k and v go to the cache in place.
// Epilogue of matvec.wgsl or matmul.wgsl over the stacked rows of Wq, Wk and Wv. Rows of Wq and Wk are ordered so that a
// rotary pair is two adjacent rows (RoPE: Su et al. 2021, interleaved form).
// Constants: N_HEADS, N_KV_HEADS, HEAD_DIM, CONTEXT. KvPair: lib/kv_pair_*.wgsl.
const Q_ROWS = N_HEADS * HEAD_DIM;
const KV_ROWS = N_KV_HEADS * HEAD_DIM;

@group(0) @binding(4) var<storage, read> rope: array<vec2<f32>>;           // (CONTEXT, HEAD_DIM / 2): cos, sin
@group(0) @binding(5) var<storage, read_write> q: array<vec2<f32>>;        // (n_tokens, N_HEADS, HEAD_DIM / 2)
@group(0) @binding(6) var<storage, read_write> k_cache: array<KvPair>;     // (N_KV_HEADS, CONTEXT, HEAD_DIM / 2)
@group(0) @binding(7) var<storage, read_write> v_cache: array<KvPair>;     // (N_KV_HEADS, CONTEXT, HEAD_DIM / 2)

fn rotate(y: vec2<f32>, cs: vec2<f32>) -> vec2<f32> {
  return vec2(y.x * cs.x - y.y * cs.y, y.x * cs.y + y.y * cs.x);
}

fn fetch(token: u32, row: u32) -> vec2<f32> {
  return rope[(step.position + token) * (HEAD_DIM / 2u) + row % HEAD_DIM / 2u];
}

fn emit(token: u32, row: u32, y: vec2<f32>, cs: vec2<f32>) {
  let position = step.position + token;
  let pair = row % HEAD_DIM / 2u;
  if (row < Q_ROWS) {
    q[(token * Q_ROWS + row) / 2u] = rotate(y, cs);
  } else if (row < Q_ROWS + KV_ROWS) {
    let head = (row - Q_ROWS) / HEAD_DIM;
    k_cache[(head * CONTEXT + position) * (HEAD_DIM / 2u) + pair] = kv_pair(rotate(y, cs));
  } else {
    let head = (row - Q_ROWS - KV_ROWS) / HEAD_DIM;
    v_cache[(head * CONTEXT + position) * (HEAD_DIM / 2u) + pair] = kv_pair(y);
  }
}
