// o[t, h, :] = sum_j softmax_j(softcap(scale q[t, h, :] . k[j, :])) v[j, :]
// over first_seen(n) <= j < end_seen(n), n = step.position + t + 1
//
// One workgroup: BLOCK_M rows (x) of one KV head (y), DV_TILE columns of the output (z). Row r is token r / GQA_GROUP,
// head r % GQA_GROUP of the group, so that the group shares every tile of BLOCK_N keys. Tiles above the diagonal, or
// before the windows of all rows, are never visited. A thread (tx, ty) of TX * TY holds four rows, 4 ty to 4 ty + 3,
// one in each lane of m, l and the scores: of them it has the scores of keys tx + TX j, and the output quads tx + TX c.
// (FlashAttention-2, Dao 2023, arXiv:2307.08691.)
// Constants: N_HEADS, GQA_GROUP, HEAD_DIM, CONTEXT, Q_SCALE; BLOCK_M, BLOCK_N, DV_TILE; D_QUADS, V_KEYS: what `stage`
// holds at once.
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;         // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(1) var<storage, read> k_cache: array<KvQuad>;      // (N_KV_HEADS, CONTEXT, QUADS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvQuad>;      // (N_KV_HEADS, CONTEXT, QUADS)
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>; // (n_tokens, N_HEADS, QUADS)

const QUADS = HEAD_DIM / 4;
const DV_QUADS = DV_TILE / 4;
const TX = BLOCK_N / 4;
const TY = BLOCK_M / 4;
const THREADS = TX * TY;
const COLUMNS = (DV_QUADS + TX - 1) / TX; // output quads of a thread
const STAGE_K = D_QUADS * BLOCK_M;        // where the keys begin in `stage`

// In turn: q (D_QUADS, BLOCK_M) and k (D_QUADS, BLOCK_N); max or l of each thread's scores (TX, TY); v (V_KEYS,
// DV_QUADS).
var<workgroup> stage: array<vec4<f32>, max(max(D_QUADS * (BLOCK_M + BLOCK_N), THREADS), V_KEYS * DV_QUADS)>;
var<workgroup> p_tile: array<vec4<f32>, BLOCK_N * TY>; // p of four rows: (BLOCK_N, TY)

// The four scores of a thread, and its output: quad c of row r is o[4 c + r].
alias Scores = array<vec4<f32>, 4>;
alias Output = array<vec4<f32>, 4 * COLUMNS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let tx = lid % TX;
  let ty = lid / TX;
  let n_rows = step.n_tokens * GQA_GROUP;
  let first_row = ((n_rows + BLOCK_M - 1) / BLOCK_M - 1 - wid.x) * BLOCK_M; // the blocks that see most keys start first
  let last_row = min(first_row + BLOCK_M, n_rows) - 1;
  let last_own = step.position + last_row / GQA_GROUP + 1;   // keys up to the last row's own
  let first_own = step.position + first_row / GQA_GROUP + 1; // keys up to the first row's own
  let n_keys = end_seen(last_own);
  let all_see = end_seen(first_own);
  let rows = first_row + 4 * ty + vec4(0u, 1u, 2u, 3u);
  let own = step.position + rows / GQA_GROUP + 1;
  let sees = end_seen4(own);
  let cache = wid.y * CONTEXT * QUADS;

  var m = vec4(M_START);
  var l = vec4(0.0); // of this thread's keys
  var o: Output;
  for (var start = first_seen(first_own); start < n_keys; start += BLOCK_N) {
    var s = Scores(); // written out: without it Dawn on SwiftShader keeps the values of the tile before
    for (var d = 0u; d < QUADS; d += D_QUADS) {
      stage_q_k(lid, first_row, n_rows, wid.y, cache, d, start, n_keys);
      workgroupBarrier();
      add_scores(&s, tx, ty);
      workgroupBarrier();
    }
    for (var j = 0u; j < 4; j++) { s[j] = softcap4(s[j]); }
    if (start + BLOCK_N > all_see || start < first_seen(last_own)) {
      for (var j = 0u; j < 4; j++) {
        let key = vec4(start + tx + TX * j);
        s[j] = select(vec4(MASKED), s[j], (key < sees) & (key >= first_seen4(own)));
      }
    }

    stage[tx * TY + ty] = max(max(s[0], s[1]), max(s[2], s[3]));
    workgroupBarrier();
    var m_new = m;
    for (var x = 0u; x < TX; x++) { m_new = max(m_new, stage[x * TY + ty]); }
    let alpha = softmax_p4(m, m_new);
    m = m_new;
    l *= alpha;
    for (var j = 0u; j < 4; j++) {
      let p = softmax_p4(s[j], m);
      l += p;
      p_tile[(tx + TX * j) * TY + ty] = p;
    }
    for (var c = 0u; c < COLUMNS; c++) {
      for (var r = 0u; r < 4; r++) { o[4 * c + r] *= alpha[r]; }
    }
    workgroupBarrier();

    for (var j = 0u; j < BLOCK_N; j += V_KEYS) {
      stage_v(lid, cache + wid.z * DV_QUADS, start + j, n_keys);
      workgroupBarrier();
      add_values(&o, tx, ty, j);
      workgroupBarrier();
    }
  }

  stage[tx * TY + ty] = l;
  workgroupBarrier();
  l = vec4(0.0);
  for (var x = 0u; x < TX; x++) { l += stage[x * TY + ty]; }
  for (var r = 0u; r < 4; r++) {
    if (rows[r] < n_rows) {
      let to = row_quad(rows[r], wid.y) + wid.z * DV_QUADS;
      for (var c = 0u; c < COLUMNS; c++) {
        if (tx + TX * c < DV_QUADS) { out[to + tx + TX * c] = o[4 * c + r] / l[r]; }
      }
    }
  }
}

// Where a row starts in q and out.
fn row_quad(row: u32, kv_head: u32) -> u32 {
  return (row / GQA_GROUP * N_HEADS + kv_head * GQA_GROUP + row % GQA_GROUP) * QUADS;
}

// Quads d to d + D_QUADS of the block's rows and of the tile's keys; zeros past the end of either.
fn stage_q_k(lid: u32, first_row: u32, n_rows: u32, kv_head: u32, cache: u32, d: u32, start: u32, n_keys: u32) {
  for (var i = lid; i < D_QUADS * BLOCK_M; i += THREADS) {
    let row = first_row + i / D_QUADS;
    var x = vec4(0.0);
    if (row < n_rows) { x = q[row_quad(row, kv_head) + d + i % D_QUADS] * Q_SCALE; }
    stage[i % D_QUADS * BLOCK_M + i / D_QUADS] = x;
  }
  for (var i = lid; i < D_QUADS * BLOCK_N; i += THREADS) {
    let key = start + i / D_QUADS;
    var x = vec4(0.0);
    if (key < n_keys) { x = kv_quad(k_cache[cache + key * QUADS + d + i % D_QUADS]); }
    stage[STAGE_K + i % D_QUADS * BLOCK_N + i / D_QUADS] = x;
  }
}

// s[j] += q . k over the staged quads.
fn add_scores(s: ptr<function, Scores>, tx: u32, ty: u32) {
  for (var d = 0u; d < D_QUADS; d++) {
    let row = d * BLOCK_M + 4 * ty;
    let q0 = stage[row];
    let q1 = stage[row + 1];
    let q2 = stage[row + 2];
    let q3 = stage[row + 3];
    for (var j = 0u; j < 4; j++) {
      let k = stage[STAGE_K + d * BLOCK_N + tx + TX * j];
      (*s)[j] += vec4(dot(q0, k), dot(q1, k), dot(q2, k), dot(q3, k));
    }
  }
}

// V_KEYS values from `key` on, the columns of this workgroup; zeros past the end, since 0 * NaN is NaN.
fn stage_v(lid: u32, columns: u32, key: u32, n_keys: u32) {
  for (var i = lid; i < V_KEYS * DV_QUADS; i += THREADS) {
    var x = vec4(0.0);
    if (key + i / DV_QUADS < n_keys) { x = kv_quad(v_cache[columns + (key + i / DV_QUADS) * QUADS + i % DV_QUADS]); }
    stage[i] = x;
  }
}

// o += p v over the staged values, which begin at key `first` of the tile.
fn add_values(o: ptr<function, Output>, tx: u32, ty: u32, first: u32) {
  for (var j = 0u; j < V_KEYS; j++) {
    let p = p_tile[(first + j) * TY + ty];
    for (var c = 0u; c < COLUMNS; c++) {
      let v = stage[j * DV_QUADS + min(tx + TX * c, DV_QUADS - 1)];
      for (var r = 0u; r < 4; r++) { (*o)[4 * c + r] += p[r] * v; }
    }
  }
}
