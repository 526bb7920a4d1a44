// o[t, h, :] = sum_j softmax_j(softcap(scale q[t, h, :] . k[j, :])) v[j, :]
// over first_seen(n) <= j < end_seen(n), n = step.position + t + 1
//
// Memory-efficient attention: CHUNK tokens at a time over all the keys that some of them sees. (Rabe and Staats 2021,
// arXiv:2112.05682.) Three kernels for each chunk, in this order: query_key, softmax, times_value. Row r of a KV head
// is token r / GQA_GROUP of the chunk, head r % GQA_GROUP of the group, so that the group shares each load of a key or
// value. The number of keys is not known when the grids are made, so workgroups stride over them.
// Constants: N_HEADS, N_KV_HEADS, GQA_GROUP, HEAD_DIM, CONTEXT, Q_SCALE; CHUNK; WORKGROUP >= QUADS; TILE_QUADS,
// PARTS <= WORKGROUP.
struct Chunk { first_token: u32 } // of the pass
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;         // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(1) var<storage, read> k_cache: array<KvQuad>;      // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvQuad>;      // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>; // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;  // (N_KV_HEADS, CHUNK * GQA_GROUP, CONTEXT), then p
@group(0) @binding(5) var<uniform> chunk: Chunk;

const QUADS = HEAD_DIM / 4;
const SLICES = WORKGROUP / QUADS; // of the keys, in times_value

fn n_rows() -> u32 { return min(CHUNK, step.n_tokens - chunk.first_token) * GQA_GROUP; }

// Keys up to a row's own. Visited are those from the first that the first row sees to the last that the last row does.
fn n_own(row: u32) -> u32 { return step.position + chunk.first_token + row / GQA_GROUP + 1; }
fn first_key() -> u32 { return first_seen(n_own(0)); }
fn n_keys() -> u32 { return end_seen(n_own(n_rows() - 1)); }

// Four rows of a thread; past the end it has the last row again, and makes the same numbers of it.
fn four_rows(first: u32) -> vec4<u32> { return min(first + vec4(0u, 1u, 2u, 3u), vec4(n_rows() - 1)); }

// Where a row begins, in q and out; where its scores begin.
fn row_quad(row: u32, kv_head: u32) -> u32 {
  return ((chunk.first_token + row / GQA_GROUP) * N_HEADS + kv_head * GQA_GROUP + row % GQA_GROUP) * QUADS;
}
fn score_row(row: u32, kv_head: u32) -> u32 { return (kv_head * CHUNK * GQA_GROUP + row) * CONTEXT; }

// scores = softcap(Q_SCALE q k^T), MASKED where a row does not see the key. A thread has one key and four rows; a
// workgroup makes tiles of up to 4 TILE_QUADS rows (y) with as many keys (x) as it has threads for. z: KV head.
@compute @workgroup_size(WORKGROUP)
fn query_key(
  @builtin(workgroup_id) wid: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) lid: u32,
) {
  let row_quads = min((n_rows() + 3) / 4, TILE_QUADS);
  let keys = WORKGROUP / row_quads;
  let first_row = 4 * (wid.y * row_quads + lid % row_quads);
  if (lid / row_quads >= keys || first_row >= n_rows()) { return; }
  let rows = four_rows(first_row);
  let own = vec4(n_own(rows.x), n_own(rows.y), n_own(rows.z), n_own(rows.w));
  let q0 = row_quad(rows.x, wid.z);
  let q1 = row_quad(rows.y, wid.z);
  let q2 = row_quad(rows.z, wid.z);
  let q3 = row_quad(rows.w, wid.z);
  enter_ring(first_key());
  for (var s = first_key() + wid.x * keys + lid / row_quads; s < n_keys(); s += grid.x * keys) {
    let cache_row = wid.z * kv_room() + slot_of(s);
    let key = cache_row * QUADS;
    var sums = vec4(0.0);
    for (var d = 0u; d < QUADS; d++) {
      let k = kv_quad(k_cache[key + d]);
      sums += vec4(dot(q[q0 + d], k), dot(q[q1 + d], k), dot(q[q2 + d], k), dot(q[q3 + d], k));
    }
    if (KV_SCALED) { sums *= key_scale(cache_row); }
    sums = select(vec4(MASKED), softcap4(sums * Q_SCALE), (vec4(s) < end_seen4(own)) & (vec4(s) >= first_seen4(own)));
    scores[score_row(rows.x, wid.z) + s] = sums.x;
    scores[score_row(rows.y, wid.z) + s] = sums.y;
    scores[score_row(rows.z, wid.z) + s] = sums.z;
    scores[score_row(rows.w, wid.z) + s] = sums.w;
  }
}

var<workgroup> maxima: array<f32, WORKGROUP>;
var<workgroup> parts: array<f32, PARTS>;

// scores = p = exp2(score - m), m the max of the row; their sum l is left to times_value, which reads them all anyway.
// One workgroup a row: token (x), head of the group (y), KV head (z).
@compute @workgroup_size(WORKGROUP)
fn softmax(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let row = score_row(wid.x * GQA_GROUP + wid.y, wid.z);
  var m = M_START;
  for (var s = first_key() + lid; s < n_keys(); s += WORKGROUP) { m = max(m, scores[row + s]); }
  maxima[lid] = m;
  workgroupBarrier();
  if (lid < PARTS) {
    for (var i = lid + PARTS; i < WORKGROUP; i += PARTS) { m = max(m, maxima[i]); }
    parts[lid] = m;
  }
  workgroupBarrier();
  for (var i = 0u; i < PARTS; i++) { m = max(m, parts[i]); }
  for (var s = first_key() + lid; s < n_keys(); s += WORKGROUP) { scores[row + s] = softmax_p(scores[row + s], m); }
}

var<workgroup> o_slices: array<vec4<f32>, 2 * SLICES * QUADS>; // of two rows
var<workgroup> l_slices: array<vec4<f32>, SLICES>;             // of all four

// o = p v / l. A thread has an output quad of four rows, over every SLICES-th key. x: four rows, y: KV head.
@compute @workgroup_size(WORKGROUP)
fn times_value(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let rows = four_rows(4 * wid.x);
  let p0 = score_row(rows.x, wid.y);
  let p1 = score_row(rows.y, wid.y);
  let p2 = score_row(rows.z, wid.y);
  let p3 = score_row(rows.w, wid.y);
  let quad = lid % QUADS;
  let slice = lid / QUADS;
  let end = select(0, end_seen(n_own(rows.w)), slice < SLICES); // threads past the last slice idle
  var o = mat4x4<f32>();
  var l = vec4(0.0);
  enter_ring(first_key());
  for (var s = first_key() + slice; s < end; s += SLICES) {
    let cache_row = wid.y * kv_room() + slot_of(s);
    let p = vec4(scores[p0 + s], scores[p1 + s], scores[p2 + s], scores[p3 + s]);
    var v = kv_quad(v_cache[cache_row * QUADS + quad]);
    if (KV_SCALED) { v *= value_scale(cache_row); }
    o += mat4x4(p.x * v, p.y * v, p.z * v, p.w * v);
    l += p;
  }

  if (quad == 0 && slice < SLICES) { l_slices[slice] = l; }
  for (var r = 0u; r < 4; r += 2) {
    if (slice < SLICES) {
      o_slices[lid] = o[r];
      o_slices[SLICES * QUADS + lid] = o[r + 1];
    }
    workgroupBarrier();
    for (var i = lid; i < 2 * QUADS; i += WORKGROUP) { add_slices(4 * wid.x, r + i / QUADS, wid.y, i % QUADS); }
    workgroupBarrier();
  }
}

// The slices of row first_row + r together, o / l.
fn add_slices(first_row: u32, r: u32, kv_head: u32, quad: u32) {
  if (first_row + r >= n_rows()) { return; }
  var o = vec4(0.0);
  var l = 0.0;
  for (var slice = 0u; slice < SLICES; slice++) {
    o += o_slices[(r % 2 * SLICES + slice) * QUADS + quad];
    l += l_slices[slice][r];
  }
  out[row_quad(first_row + r, kv_head) + quad] = o / l;
}
