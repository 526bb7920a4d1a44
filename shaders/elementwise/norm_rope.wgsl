// q, k, v = rope(n(y_q)), rope(n(y_k)), y_v of the rows y that the product with Wq, Wk and Wv left; n is RMSNorm over a
// head, or when VECTOR over all heads of q, or of k, at once; without NORMED there is no norm. k and v go to the cache
// in place. One workgroup takes one head of one token, a thread a rotary pair at a time.
// Constants: those of rotary_heads, NORMED, VECTOR, EPS, WORKGROUP. Libraries: kv_*, rotary_heads, put_*,
// workgroup_sum.
@group(0) @binding(0) var<storage, read> y: array<vec2<f32>>;  // (n_tokens, N_HEADS + 2 N_KV_HEADS, HEAD_DIM / 2)
// of q, then of k: (HEAD_DIM / 2), or all heads' when VECTOR
@group(0) @binding(1) var<storage, read> weight: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> rope: array<vec2<f32>>;           // (CONTEXT, HEAD_DIM / 2): cos, sin
@group(0) @binding(3) var<storage, read_write> q: array<vec2<f32>>;        // (n_tokens, N_HEADS, HEAD_DIM / 2)
@group(0) @binding(4) var<storage, read_write> k_cache: array<KvPair>;     // (N_KV_HEADS, ROOM, HEAD_DIM / 2)
@group(0) @binding(5) var<storage, read_write> v_cache: array<KvPair>;     // (N_KV_HEADS, ROOM, HEAD_DIM / 2)

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let head = group.x;
  let token = group.y;
  let is_q = head < N_HEADS;
  let normed = NORMED && head < N_HEADS + N_KV_HEADS;
  let token_pair0 = token * ((Q_ROWS + 2u * KV_ROWS) / 2u);
  var norm_row0 = head * HEAD_DIM;   // the rows that are normalized together
  var norm_rows = select(0u, HEAD_DIM, normed);
  if (VECTOR && normed) {
    norm_row0 = select(Q_ROWS, 0u, is_q);
    norm_rows = select(KV_ROWS, Q_ROWS, is_q);
  }
  var square = 0.0;
  for (var i = lid; i < norm_rows / 2u; i += WORKGROUP) {
    let pair = y[token_pair0 + norm_row0 / 2u + i];
    square += dot(pair, pair);
  }
  let rstd = inverseSqrt(workgroup_sum(square, lid) / f32(max(norm_rows, 1u)) + EPS);
  for (var pair = lid; pair < HEAD_DIM / 2u; pair += WORKGROUP) {
    let row = head * HEAD_DIM + 2u * pair;
    var value = y[token_pair0 + row / 2u];
    if (normed) {
      let weight_row = select(select(HEAD_DIM, 0u, is_q) + 2u * pair, row, VECTOR);
      value *= rstd * weight[weight_row / 2u];
    }
    put_pair(token, row, value, angle_of(token, row));
  }
  put_head(token, head, lid);
}
