// o[t, h, :] = sum_j softmax_j(softcap(scale q[t, h, :] . k[j, :])) v[j, :]
// over first_seen(n) <= j < end_seen(n), n = step.position + t + 1
//
// One workgroup: BLOCK_M rows (y) of one KV head (x), DV_TILE columns of the output (z). Row r is token r / GQA_GROUP,
// head r % GQA_GROUP of the group, so that the group shares every tile of BLOCK_N keys. Tiles above the diagonal, or
// before the windows of all rows, are never visited. A thread (tx, ty) of TX * TY holds the ROWS rows ty + TY r, four
// of them in each vec4 of m, l and the scores: of them it has the scores of the KEYS keys tx + TX j, and the output
// quads tx + TX c. More rows and keys a thread mean fewer reads of workgroup memory for each product, and more
// registers. While staged numbers are multiplied, the next are on their way from memory into registers.
// (FlashAttention-2, Dao 2023, arXiv:2307.08691.)
// Constants: N_HEADS, GQA_GROUP, HEAD_DIM, CONTEXT, Q_SCALE; BLOCK_M, BLOCK_N, DV_TILE, ROWS, KEYS; D_QUADS: quads of q
// and k staged at once. Library: prompt_blocks.
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;         // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(1) var<storage, read> k_cache: array<KvQuad>;      // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvQuad>;      // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>; // (n_tokens, N_HEADS, QUADS)

const QUADS = HEAD_DIM / 4;
const DV_QUADS = DV_TILE / 4;
const ROW_QUADS = ROWS / 4;
const TX = BLOCK_N / KEYS;
const TY = BLOCK_M / ROWS;
const THREADS = TX * TY;
const COLUMNS = (DV_QUADS + TX - 1) / TX; // output quads of a thread
const LINE = max(TX, TY);
const STAGE_K = D_QUADS * ROWS;           // the line of `stage` where the keys begin
// Quad d of a row or key lies at place t ^ (SWIZZLE d) of its line, so that neighbors write to different banks.
const SWIZZLE = select(0u, 2u, TX % 8 == 0 && TY % 8 == 0 && D_QUADS <= 4);
// Quads that a thread brings from memory at once.
const Q_EACH = (D_QUADS * BLOCK_M + THREADS - 1) / THREADS;
const K_EACH = (D_QUADS * BLOCK_N + THREADS - 1) / THREADS;
const V_EACH = (TX * DV_QUADS + THREADS - 1) / THREADS;

// In lines, so that a thread reads at its own place of each: one index that the compiler has to bound. In turn: q
// (D_QUADS, ROWS) and k (D_QUADS, KEYS); max or l of each thread's scores (TX, ROW_QUADS); v of TX keys (TX, COLUMNS).
var<workgroup> stage: array<array<vec4<f32>, LINE>, max(D_QUADS * (ROWS + KEYS), TX * max(ROW_QUADS, COLUMNS))>;
var<workgroup> p_tile: array<array<vec4<f32>, TY>, TX * ROW_QUADS>; // p of TX keys (TX, ROW_QUADS)

// A number of each row of a thread; its scores, those of key j at ROW_QUADS j; its output: quad c of row r is
// o[ROWS c + r].
alias Rows = array<vec4<f32>, ROW_QUADS>;
alias Scores = array<vec4<f32>, KEYS * ROW_QUADS>;
alias Output = array<vec4<f32>, ROWS * COLUMNS>;

// D_QUADS quads of the block's rows and of the tile's keys on their way to `stage`, and the values of TX keys.
struct Slice { q: array<vec4<f32>, Q_EACH>, k: array<KvQuad, K_EACH> }
alias Values = array<KvQuad, V_EACH>;

// What a workgroup attends to: rows from first_row on, keys up to n_keys of a KV head whose cache begins at `cache`.
struct Block { first_row: u32, n_rows: u32, kv_head: u32, cache: u32, n_keys: u32 }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let place = place_of(lid);
  let tx = place.x;
  let ty = place.y;
  let rows = block_of(wid.y);
  let block = Block(rows.first_row, rows.n_rows, wid.x, wid.x * kv_room() * QUADS, rows.n_keys);
  let first_key = first_seen(rows.first_own);
  enter_ring(first_key);
  let columns = block.cache + wid.z * DV_QUADS;

  var m: Rows;
  for (var h = 0u; h < ROW_QUADS; h++) { m[h] = vec4(M_START); }
  var l: Rows; // of this thread's keys
  var o: Output;
  var slice = load_slice(block, lid, 0, first_key);
  for (var start = first_key; start < rows.n_keys; start += BLOCK_N) {
    var s = Scores(); // written out: without it Dawn on SwiftShader keeps the values of the tile before
    for (var d = 0u; d < QUADS; d += D_QUADS) {
      stage_slice(slice, lid);
      workgroupBarrier();
      if (d + D_QUADS < QUADS) { slice = load_slice(block, lid, d + D_QUADS, start); }
      add_scores(&s, tx, ty);
      workgroupBarrier();
    }
    var values = load_values(columns, lid, start, rows.n_keys);
    if (KV_SCALED) {
      for (var j = 0u; j < KEYS; j++) {
        let scale = key_scale(scale_row(block, start + tx + TX * j));
        for (var h = 0u; h < ROW_QUADS; h++) { s[ROW_QUADS * j + h] *= scale; }
      }
    }
    for (var i = 0u; i < KEYS * ROW_QUADS; i++) { s[i] = softcap4(s[i]); }
    if (start + BLOCK_N > rows.all_see || start < first_seen(rows.last_own)) {
      mask(&s, tx, rows.first_row + ty, start);
    }

    for (var h = 0u; h < ROW_QUADS; h++) {
      var most = s[h];
      for (var j = 1u; j < KEYS; j++) { most = max(most, s[ROW_QUADS * j + h]); }
      stage[tx * ROW_QUADS + h][ty] = most;
    }
    workgroupBarrier();
    for (var h = 0u; h < ROW_QUADS; h++) {
      var m_new = m[h];
      for (var x = 0u; x < TX; x++) { m_new = max(m_new, stage[x * ROW_QUADS + h][ty]); }
      let alpha = softmax_p4(m[h], m_new);
      m[h] = m_new;
      l[h] *= alpha;
      for (var j = 0u; j < KEYS; j++) {
        let p = softmax_p4(s[ROW_QUADS * j + h], m_new);
        l[h] += p;
        s[ROW_QUADS * j + h] = p;
      }
      for (var c = 0u; c < COLUMNS; c++) {
        for (var r = 0u; r < 4; r++) { o[ROWS * c + 4 * h + r] *= alpha[r]; }
      }
    }
    if (KV_SCALED) {
      for (var j = 0u; j < KEYS; j++) {
        let scale = value_scale(scale_row(block, start + tx + TX * j));
        for (var h = 0u; h < ROW_QUADS; h++) { s[ROW_QUADS * j + h] *= scale; }
      }
    }
    workgroupBarrier();

    // The values of TX keys at a time, key tx of each thread. The p of the next keys move down to the first.
    for (var j = 0u; j < KEYS; j++) {
      for (var h = 0u; h < ROW_QUADS; h++) { p_tile[tx * ROW_QUADS + h][ty] = s[h]; }
      for (var i = ROW_QUADS; i < KEYS * ROW_QUADS; i++) { s[i - ROW_QUADS] = s[i]; }
      stage_values(values, lid);
      workgroupBarrier();
      if (j + 1 < KEYS) {
        values = load_values(columns, lid, start + TX * (j + 1), rows.n_keys);
      } else {
        slice = load_slice(block, lid, 0, start + BLOCK_N);
      }
      add_values(&o, tx, ty);
      workgroupBarrier();
    }
  }

  for (var h = 0u; h < ROW_QUADS; h++) { stage[tx * ROW_QUADS + h][ty] = l[h]; }
  workgroupBarrier();
  for (var h = 0u; h < ROW_QUADS; h++) {
    var sum = vec4(0.0);
    for (var x = 0u; x < TX; x++) { sum += stage[x * ROW_QUADS + h][ty]; }
    for (var r = 0u; r < 4; r++) {
      let row = rows.first_row + ty + TY * (4 * h + r);
      if (row < rows.n_rows) {
        let to = row_of(row, wid.x) * QUADS + wid.z * DV_QUADS;
        for (var c = 0u; c < COLUMNS; c++) {
          if (tx + TX * c < DV_QUADS) { out[to + tx + TX * c] = o[ROWS * c + 4 * h + r] / sum[r]; }
        }
      }
    }
  }
}

// Takes the scores of keys that a row does not see out of the softmax.
fn mask(s: ptr<function, Scores>, tx: u32, first: u32, start: u32) {
  for (var h = 0u; h < ROW_QUADS; h++) {
    let own = step.position + (first + TY * (4 * h + vec4(0u, 1u, 2u, 3u))) / GQA_GROUP + 1;
    let sees = end_seen4(own);
    let first_key = first_seen4(own);
    for (var j = 0u; j < KEYS; j++) {
      let key = vec4(start + tx + TX * j);
      let at = ROW_QUADS * j + h;
      (*s)[at] = select(vec4(MASKED), (*s)[at], (key < sees) & (key >= first_key));
    }
  }
}

// The row of a key whose scales a thread reads; past the end the last key stands in.
fn scale_row(block: Block, key: u32) -> u32 { return block.kv_head * kv_room() + slot_of(min(key, block.n_keys - 1)); }

// Quads d to d + D_QUADS of the block's rows and of the keys from `start` on; zeros past the end of either.
fn load_slice(block: Block, lid: u32, d: u32, start: u32) -> Slice {
  var slice: Slice;
  for (var n = 0u; n < Q_EACH; n++) {
    let i = lid + n * THREADS;
    let row = block.first_row + i / D_QUADS;
    if (i < D_QUADS * BLOCK_M && row < block.n_rows) {
      slice.q[n] = q[row_of(row, block.kv_head) * QUADS + d + i % D_QUADS] * Q_SCALE;
    }
  }
  for (var n = 0u; n < K_EACH; n++) {
    let i = lid + n * THREADS;
    let key = start + i / D_QUADS;
    if (i < D_QUADS * BLOCK_N && key < block.n_keys) {
      slice.k[n] = k_cache[block.cache + slot_of(key) * QUADS + d + i % D_QUADS];
    }
  }
  return slice;
}

fn stage_slice(slice: Slice, lid: u32) {
  for (var n = 0u; n < Q_EACH; n++) {
    let i = lid + n * THREADS;
    let d = i % D_QUADS;
    let row = i / D_QUADS;
    if (i < D_QUADS * BLOCK_M) { stage[d * ROWS + row / TY][(row % TY) ^ (SWIZZLE * d)] = slice.q[n]; }
  }
  for (var n = 0u; n < K_EACH; n++) {
    let i = lid + n * THREADS;
    let d = i % D_QUADS;
    let key = i / D_QUADS;
    if (i < D_QUADS * BLOCK_N) { stage[STAGE_K + d * KEYS + key / TX][(key % TX) ^ (SWIZZLE * d)] = kv_quad(slice.k[n]); }
  }
}

// s += q . k over the staged quads.
fn add_scores(s: ptr<function, Scores>, tx: u32, ty: u32) {
  for (var d = 0u; d < D_QUADS; d++) {
    let q_place = ty ^ (SWIZZLE * d);
    let k_place = tx ^ (SWIZZLE * d);
    var q_rows: array<vec4<f32>, ROWS>;
    for (var r = 0u; r < ROWS; r++) { q_rows[r] = stage[d * ROWS + r][q_place]; }
    for (var j = 0u; j < KEYS; j++) {
      let k = stage[STAGE_K + d * KEYS + j][k_place];
      for (var h = 0u; h < ROW_QUADS; h++) {
        let q0 = q_rows[4 * h];
        let q1 = q_rows[4 * h + 1];
        let q2 = q_rows[4 * h + 2];
        let q3 = q_rows[4 * h + 3];
        // By columns, so that each product is added in one operation.
        var sum = (*s)[ROW_QUADS * j + h];
        sum += vec4(q0.x, q1.x, q2.x, q3.x) * k.x;
        sum += vec4(q0.y, q1.y, q2.y, q3.y) * k.y;
        sum += vec4(q0.z, q1.z, q2.z, q3.z) * k.z;
        (*s)[ROW_QUADS * j + h] = sum + vec4(q0.w, q1.w, q2.w, q3.w) * k.w;
      }
    }
  }
}

// The values of TX keys from `key` on, the columns of this workgroup; zeros past the end, since 0 * NaN is NaN.
fn load_values(columns: u32, lid: u32, key: u32, n_keys: u32) -> Values {
  var values: Values;
  for (var n = 0u; n < V_EACH; n++) {
    let i = lid + n * THREADS;
    if (i < TX * DV_QUADS && key + i / DV_QUADS < n_keys) {
      values[n] = v_cache[columns + slot_of(key + i / DV_QUADS) * QUADS + i % DV_QUADS];
    }
  }
  return values;
}

fn stage_values(values: Values, lid: u32) {
  for (var n = 0u; n < V_EACH; n++) {
    let i = lid + n * THREADS;
    let quad = i % DV_QUADS;
    if (i < TX * DV_QUADS) { stage[i / DV_QUADS * COLUMNS + quad / TX][quad % TX] = kv_quad(values[n]); }
  }
}

// o += p v over the staged values.
fn add_values(o: ptr<function, Output>, tx: u32, ty: u32) {
  for (var j = 0u; j < TX; j++) {
    var p: Rows;
    for (var h = 0u; h < ROW_QUADS; h++) { p[h] = p_tile[j * ROW_QUADS + h][ty]; }
    for (var c = 0u; c < COLUMNS; c++) {
      let v = stage[j * COLUMNS + c][tx];
      for (var h = 0u; h < ROW_QUADS; h++) {
        let at = ROWS * c + 4 * h;
        let q = p[h];
        (*o)[at] += q.x * v;
        (*o)[at + 1] += q.y * v;
        (*o)[at + 2] += q.z * v;
        (*o)[at + 3] += q.w * v;
      }
    }
  }
}
