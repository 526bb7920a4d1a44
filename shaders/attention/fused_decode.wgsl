// o[t, h, :] = sum_j softmax_j(q[t, h, :] . k[j, :] / sqrt(HEAD_DIM)) v[j, :], over j <= step.position + t
//
// One workgroup: one KV head (x), one token (y), HEADS query heads of its group (z), so that K and V are read once for
// all of them. Keys come in tiles of WORKGROUP, each visited once:
//   scores   a thread is a key: its row of K against all heads
//   max      m and alpha of head g are kept by thread g
//   values   a thread is a quad of columns and one of SLICES subsets of the tile's keys: o of all heads in registers
// At the end the slices are added up and divided by l.
// Constants: N_HEADS, GQA_GROUP, HEAD_DIM, CONTEXT; HEADS, WORKGROUP (at least QUADS), PARTS (see tile_max).
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;         // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(1) var<storage, read> k_cache: array<KvQuad>;      // (N_KV_HEADS, CONTEXT, QUADS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvQuad>;      // (N_KV_HEADS, CONTEXT, QUADS)
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>; // (n_tokens, N_HEADS, QUADS)

const QUADS = HEAD_DIM / 4;
const SLICES = WORKGROUP / QUADS;
const MERGE = min(HEADS, 4u); // heads whose slices are added up at once

var<workgroup> quads: array<vec4<f32>, max(HEADS * QUADS, MERGE * WORKGROUP)>; // q: (HEADS, QUADS); then o: (MERGE, WORKGROUP)
var<workgroup> tile_p: array<f32, HEADS * WORKGROUP>;                          // p of the tile: (HEADS, WORKGROUP)
var<workgroup> partial: array<f32, PARTS * HEADS>;                             // (PARTS, HEADS)
var<workgroup> head_m: array<f32, HEADS>;
var<workgroup> head_alpha: array<f32, HEADS>;
var<workgroup> head_l: array<f32, HEADS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let n_keys = step.position + wid.y + 1u;
  let cache = wid.x * CONTEXT * QUADS;
  let rows = (wid.y * N_HEADS + wid.x * GQA_GROUP + wid.z * HEADS) * QUADS;
  let live_quads = min(HEADS, GQA_GROUP - wid.z * HEADS) * QUADS; // the last z may hold fewer heads
  for (var i = lid; i < HEADS * QUADS; i += WORKGROUP) {
    quads[i] = vec4(0.0);
    if (i < live_quads) { quads[i] = q[rows + i] * softmax_q_scale(); }
  }
  if (lid < HEADS) { head_m[lid] = M_START; }
  workgroupBarrier();

  var l: array<f32, HEADS>; // of this thread's keys
  var o: array<vec4<f32>, HEADS>;
  for (var start = 0u; start < n_keys; start += WORKGROUP) {
    let tile = min(WORKGROUP, n_keys - start);
    let tile_cache = cache + start * QUADS;
    var s: array<f32, HEADS>;
    score(&s, tile_cache, lid, tile);
    raise_max(&s, lid);
    for (var g = 0u; g < HEADS; g++) {
      let p = softmax_p(s[g], head_m[g]);
      tile_p[g * WORKGROUP + lid] = p;
      l[g] = l[g] * head_alpha[g] + p;
      o[g] *= head_alpha[g];
    }
    workgroupBarrier();
    add_values(&o, tile_cache, lid, tile);
    workgroupBarrier();
  }

  sum_l(&l, lid);
  for (var first = 0u; first < HEADS; first += MERGE) {
    for (var g = 0u; g < min(MERGE, HEADS - first); g++) { quads[g * WORKGROUP + lid] = o[first + g]; }
    workgroupBarrier();
    for (var i = lid; i < min(MERGE, HEADS - first) * QUADS; i += WORKGROUP) {
      var sum = vec4(0.0);
      for (var slice = 0u; slice < SLICES; slice++) { sum += quads[i / QUADS * WORKGROUP + slice * QUADS + i % QUADS]; }
      let to = first * QUADS + i;
      if (to < live_quads) { out[rows + to] = sum / head_l[to / QUADS]; }
    }
    workgroupBarrier();
  }
}

// s[g] = q[g] . k of key `lid` of the tile.
fn score(s: ptr<function, array<f32, HEADS>>, tile_cache: u32, lid: u32, tile: u32) {
  for (var g = 0u; g < HEADS; g++) { (*s)[g] = select(MASKED, 0.0, lid < tile); }
  if (lid < tile) {
    for (var d = 0u; d < QUADS; d++) {
      let k = kv_quad(k_cache[tile_cache + lid * QUADS + d]);
      for (var g = 0u; g < HEADS; g++) { (*s)[g] += dot(quads[g * QUADS + d], k); }
    }
  }
}

// Thread g takes the tile's scores of head g into m, and leaves the alpha that this costs.
fn raise_max(s: ptr<function, array<f32, HEADS>>, lid: u32) {
  tile_max(s, lid);
  workgroupBarrier();
  if (lid < HEADS) {
    let m = head_m[lid];
    var m_new = m;
    for (var r = 0u; r < PARTS; r++) { m_new = max(m_new, partial[r * HEADS + lid]); }
    head_m[lid] = m_new;
    head_alpha[lid] = softmax_p(m, m_new);
  }
  workgroupBarrier();
}

// o[g] += p[g, j] v[j] over the keys j of this thread's slice. Keys past the tile are not read: they may hold anything.
fn add_values(o: ptr<function, array<vec4<f32>, HEADS>>, tile_cache: u32, lid: u32, tile: u32) {
  if (lid < SLICES * QUADS) {
    for (var j = lid / QUADS; j < tile; j += SLICES) {
      let v = kv_quad(v_cache[tile_cache + j * QUADS + lid % QUADS]);
      for (var g = 0u; g < HEADS; g++) { (*o)[g] += tile_p[g * WORKGROUP + j] * v; }
    }
  }
}

// head_l[g] = sum of l[g] over the threads.
fn sum_l(l: ptr<function, array<f32, HEADS>>, lid: u32) {
  for (var g = 0u; g < HEADS; g++) { tile_p[g * WORKGROUP + lid] = (*l)[g]; }
  workgroupBarrier();
  for (var i = lid; i < HEADS * PARTS; i += WORKGROUP) {
    var sum = 0.0;
    for (var j = i % PARTS; j < WORKGROUP; j += PARTS) { sum += tile_p[i / PARTS * WORKGROUP + j]; }
    partial[i % PARTS * HEADS + i / PARTS] = sum;
  }
  workgroupBarrier();
  if (lid < HEADS) {
    var sum = 0.0;
    for (var r = 0u; r < PARTS; r++) { sum += partial[r * HEADS + lid]; }
    head_l[lid] = sum;
  }
}
