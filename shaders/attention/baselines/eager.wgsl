// o[t, h, :] = softmax_j(mask(softcap(scale q[t, h, :] . k[j, :]))) v[j, :],
// every matrix whole in memory, nothing fused
//
// Five kernels in this order, for some heads (a slab) at a time: query_key, scale, mask, softmax, times_value. Scores
// that a token does not see are computed too, of whatever lies in their rows, and masked after. The number of keys is
// not known when the grids are made, so workgroups stride over them. z is a head of the slab, except where said.
// Constants: N_HEADS, GQA_GROUP, HEAD_DIM, Q_SCALE; WORKGROUP; TILE_TOKENS, PARTS <= WORKGROUP.
struct Slab { first_head: u32 }
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;         // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(1) var<storage, read> k_cache: array<KvQuad>;      // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvQuad>;      // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>; // (n_tokens, N_HEADS, QUADS)
// (heads of the slab, n_tokens, kv_len); p in the end
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;
@group(0) @binding(5) var<uniform> slab: Slab;

const QUADS = HEAD_DIM / 4;

fn kv_len() -> u32 { return step.position + step.n_tokens; }

// Keys up to a token's own.
fn n_own(token: u32) -> u32 { return step.position + token + 1; }

// Where the scores of a token begin.
fn score_row(slab_head: u32, token: u32) -> u32 { return (slab_head * step.n_tokens + token) * kv_len(); }

// Where a query begins, in q and out; and the keys and values of its KV head.
fn query_quad(slab_head: u32, token: u32) -> u32 { return (token * N_HEADS + slab.first_head + slab_head) * QUADS; }
fn cache_quad(slab_head: u32) -> u32 { return (slab.first_head + slab_head) / GQA_GROUP * kv_room() * QUADS; }

// scores = q k^T. One invocation a score; a workgroup makes tiles of up to TILE_TOKENS tokens (y) with as many keys (x)
// as it has invocations for, so that a tile reads each of its queries and keys from memory once.
@compute @workgroup_size(WORKGROUP)
fn query_key(
  @builtin(workgroup_id) wid: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) lid: u32,
) {
  let tokens = min(step.n_tokens, TILE_TOKENS);
  let keys = WORKGROUP / tokens;
  let token = wid.y * tokens + lid / keys;
  if (lid / keys >= tokens || token >= step.n_tokens) { return; }
  let query = query_quad(wid.z, token);
  let cache = cache_quad(wid.z);
  let row = score_row(wid.z, token);
  enter_ring(first_seen(n_own(token)));
  for (var s = wid.x * keys + lid % keys; s < kv_len(); s += grid.x * keys) {
    var sums = vec4(0.0);
    let slot = min(slot_of(s), kv_room() - 1);
    for (var d = 0u; d < QUADS; d++) { sums += q[query + d] * kv_quad(k_cache[cache + slot * QUADS + d]); }
    var score = sums.x + sums.y + sums.z + sums.w;
    if (KV_SCALED) { score *= key_scale(cache / QUADS + slot); }
    scores[row + s] = score;
  }
}

// scores = softcap(Q_SCALE scores), log2(e) in the factor, so that exp2 stands for exp. Invocations (x) stride over all
// scores of a head.
@compute @workgroup_size(WORKGROUP)
fn scale(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let first = score_row(id.z, 0);
  let n_scores = step.n_tokens * kv_len();
  for (var i = id.x; i < n_scores; i += grid.x * WORKGROUP) {
    scores[first + i] = softcap(scores[first + i] * Q_SCALE);
  }
}

// scores[t, j] = MASKED for every key j that token t does not see. One workgroup a row: token (x), head (y).
@compute @workgroup_size(WORKGROUP)
fn mask(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let row = score_row(wid.y, wid.x);
  let n = n_own(wid.x);
  for (var s = lid; s < first_seen(n); s += WORKGROUP) { scores[row + s] = MASKED; }
  for (var s = end_seen(n) + lid; s < kv_len(); s += WORKGROUP) { scores[row + s] = MASKED; }
}

var<workgroup> lanes: array<f32, WORKGROUP>;
var<workgroup> parts: array<f32, PARTS>;

// scores[t, j] = p = exp2(scores[t, j] - m) / l, with m the max and l the sum of the row. One workgroup a row: token
// (x), head (y).
@compute @workgroup_size(WORKGROUP)
fn softmax(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let row = score_row(wid.y, wid.x);
  var m = M_START;
  for (var s = lid; s < kv_len(); s += WORKGROUP) { m = max(m, scores[row + s]); }
  m = row_max(m, lid);
  var l = 0.0;
  for (var s = lid; s < kv_len(); s += WORKGROUP) {
    let p = softmax_p(scores[row + s], m);
    scores[row + s] = p;
    l += p;
  }
  l = row_sum(l, lid);
  for (var s = lid; s < kv_len(); s += WORKGROUP) { scores[row + s] /= l; }
}

// Of one number of each invocation, in two steps: PARTS of them first, so that two barriers are enough.
fn row_max(x: f32, lid: u32) -> f32 {
  lanes[lid] = x;
  workgroupBarrier();
  if (lid < PARTS) {
    var part = x;
    for (var i = lid + PARTS; i < WORKGROUP; i += PARTS) { part = max(part, lanes[i]); }
    parts[lid] = part;
  }
  workgroupBarrier();
  var m = parts[0];
  for (var i = 1u; i < PARTS; i++) { m = max(m, parts[i]); }
  return m;
}

fn row_sum(x: f32, lid: u32) -> f32 {
  lanes[lid] = x;
  workgroupBarrier();
  if (lid < PARTS) {
    var part = x;
    for (var i = lid + PARTS; i < WORKGROUP; i += PARTS) { part += lanes[i]; }
    parts[lid] = part;
  }
  workgroupBarrier();
  var l = parts[0];
  for (var i = 1u; i < PARTS; i++) { l += parts[i]; }
  return l;
}

// o = p v. One invocation an output quad of a head, in the order (token, quad). It keeps to what the token sees: p is 0
// beyond, and 0 times a NaN or an infinity of a later token would be NaN.
@compute @workgroup_size(WORKGROUP)
fn times_value(@builtin(global_invocation_id) id: vec3<u32>) {
  let token = id.x / QUADS;
  if (token >= step.n_tokens) { return; }
  let quad = id.x % QUADS;
  let row = score_row(id.z, token);
  let cache = cache_quad(id.z);
  var o = vec4(0.0);
  let n = n_own(token);
  enter_ring(first_seen(n));
  for (var s = first_seen(n); s < end_seen(n); s++) {
    var p = scores[row + s];
    if (KV_SCALED) { p *= value_scale(cache / QUADS + slot_of(s)); }
    o += p * kv_quad(v_cache[cache + slot_of(s) * QUADS + quad]);
  }
  out[query_quad(id.z, token) + quad] = o;
}
