// Pairs of rows of Wq and Wk, turned. The rows are ordered so that a rotary pair is two adjacent rows (RoPE: Su et al.
// 2021, interleaved form). Constants: N_HEADS, N_KV_HEADS, HEAD_DIM; ROTARY: false where no pair is turned; ROOM: rows
// of a head in the cache; WRAPS: true where these are fewer than the context, and the newest stay.
// The kernel binds rope, q, k_cache and v_cache.
const Q_ROWS = N_HEADS * HEAD_DIM;
const KV_ROWS = N_KV_HEADS * HEAD_DIM;

// The row of a token's key and value in the cache, for a head.
fn row_of(token: u32, head: u32) -> u32 {
  let position = position_of(token);
  return (kv_slot(token) * N_KV_HEADS + head) * ROOM + select(position, position % ROOM, WRAPS);
}

fn rotate(y: vec2<f32>, cs: vec2<f32>) -> vec2<f32> {
  if (!ROTARY) { return y; }
  return vec2(y.x * cs.x - y.y * cs.y, y.x * cs.y + y.y * cs.x);
}

// cos and sin of the angle of a pair.
fn angle_of(token: u32, row: u32) -> vec2<f32> {
  if (!ROTARY) { return vec2(0.0); }
  return rope[position_of(token) * (HEAD_DIM / 2u) + row % HEAD_DIM / 2u];
}
