// Where a pair of rows of Wq, Wk and Wv goes: q and k turned, k and v to the cache in place. Libraries: kv_f16 or
// kv_f32, rotary_heads.
fn put_pair(token: u32, row: u32, y: vec2<f32>, cs: vec2<f32>) {
  let pair = row % HEAD_DIM / 2u;
  if (row < Q_ROWS) {
    q[(token * Q_ROWS + row) / 2u] = rotate(y, cs);
  } else if (row < Q_ROWS + KV_ROWS) {
    let head = (row - Q_ROWS) / HEAD_DIM;
    k_cache[row_of(token, head) * (HEAD_DIM / 2u) + pair] = kv_pair(rotate(y, cs));
  } else {
    let head = (row - Q_ROWS - KV_ROWS) / HEAD_DIM;
    v_cache[row_of(token, head) * (HEAD_DIM / 2u) + pair] = kv_pair(y);
  }
}

// For a kernel whose workgroup has a whole head: nothing is left to do.
fn put_head(token: u32, head: u32, lid: u32) {}
