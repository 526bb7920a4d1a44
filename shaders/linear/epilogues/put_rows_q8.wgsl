// Where a pair of rows of Wq, Wk and Wv goes where the cache holds signed bytes: q = round(y / d), d = max|y| / 127 of
// a head's key or value, which its workgroup knows once it has all of it. A NaN or an infinity makes d a NaN, and with
// it all that is read of the row: magnitudes are compared by their bits, since a max of floats may lose a NaN.
// Constants: those of rotary_heads, WORKGROUP: a power of two. Libraries: kv_q8, rotary_heads.
const LEAST = 1e-30f; // a row of smaller numbers is zero: 1 / d need not exist there
const NOT_FINITE = 0x7f800000u;

var<workgroup> row_pairs: array<vec2<f32>, HEAD_DIM / 2u>;
var<workgroup> largest: array<u32, WORKGROUP>;

fn put_pair(token: u32, row: u32, y: vec2<f32>, cs: vec2<f32>) {
  if (row < Q_ROWS) {
    q[(token * Q_ROWS + row) / 2u] = rotate(y, cs);
  } else if (row < Q_ROWS + KV_ROWS) {
    row_pairs[row % HEAD_DIM / 2u] = rotate(y, cs);
  } else {
    row_pairs[row % HEAD_DIM / 2u] = y;
  }
}

// Writes the key or value of a head, of which every pair has been put.
fn put_head(token: u32, head: u32, lid: u32) {
  if (head < N_HEADS) { return; }
  workgroupBarrier();
  let d = row_scale(lid);
  let kv_head = (head - N_HEADS) % N_KV_HEADS;
  let at = row_of(token, kv_head);
  for (var i = lid; i < HEAD_DIM / 4u; i += WORKGROUP) {
    let quad = vec4(row_pairs[2u * i], row_pairs[2u * i + 1u]);
    put_word(head, at * (HEAD_DIM / 4u) + i, pack4xI8(vec4<i32>(round(quad * d.y))));
  }
  // Scales follow the rows of all slots. Written as bits, since d may be a NaN.
  if (lid == 0u) {
    put_word(head, KV_SLOTS * N_KV_HEADS * ROOM * (HEAD_DIM / 4u) + at, select(bitcast<u32>(d.x), 0x7fc00000u, largest[0] >= NOT_FINITE));
  }
}

fn put_word(head: u32, at: u32, word: u32) {
  if (head < N_HEADS + N_KV_HEADS) { k_cache[at] = word; } else { v_cache[at] = word; }
}

// d of the row, and 1 / d; 0 for a row that is zero, or not finite.
fn row_scale(lid: u32) -> vec2<f32> {
  var most = 0u;
  for (var i = lid; i < HEAD_DIM / 2u; i += WORKGROUP) {
    let magnitudes = bitcast<vec2<u32>>(row_pairs[i]) & vec2(0x7fffffffu);
    most = max(most, max(magnitudes.x, magnitudes.y));
  }
  largest[lid] = most;
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lid < half) { largest[lid] = max(largest[lid], largest[lid + half]); }
  }
  workgroupBarrier();
  let m = largest[0];
  if (m < bitcast<u32>(LEAST) || m >= NOT_FINITE) { return vec2(0.0); }
  return vec2(bitcast<f32>(m) / 127.0, 127.0 / bitcast<f32>(m));
}
