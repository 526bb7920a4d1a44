// Where a pair of rows of Wq, Wk and Wv goes: q and k turned, k and v to the cache in place. Rows of Wq and Wk are
// ordered so that a rotary pair is two adjacent rows (RoPE: Su et al. 2021, interleaved form). Constants: N_HEADS,
// N_KV_HEADS, HEAD_DIM, CONTEXT, ROTARY: false where no pair is turned. The kernel binds rope, q, k_cache and v_cache.
// KvPair: attention/lib/kv_*.wgsl.
const Q_ROWS = N_HEADS * HEAD_DIM;
const KV_ROWS = N_KV_HEADS * HEAD_DIM;

fn rotate(y: vec2<f32>, cs: vec2<f32>) -> vec2<f32> {
  if (!ROTARY) { return y; }
  return vec2(y.x * cs.x - y.y * cs.y, y.x * cs.y + y.y * cs.x);
}

// cos and sin of the angle of a pair.
fn angle_of(token: u32, row: u32) -> vec2<f32> {
  if (!ROTARY) { return vec2(0.0); }
  return rope[(step.position + token) * (HEAD_DIM / 2u) + row % HEAD_DIM / 2u];
}

fn put_pair(token: u32, row: u32, y: vec2<f32>, cs: vec2<f32>) {
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
