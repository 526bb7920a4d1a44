// m, l and o of HEADS query heads that share one KV head, for one token, over a range of keys: each key is visited once and
// each row of K and V is read once for all the heads. Keys come in tiles of WORKGROUP:
//   scores   thread j has the scores of key j against all heads (see row_scores_*)
//   max      m and alpha of head g are kept by thread g (see tile_max_*)
//   values   a thread is eight columns and one of SLICES subsets of the tile's keys: o of all heads in registers
// At the end the slices are added up. The kernel behind this library defines emit(work, i, o): quad i of (HEADS, QUADS).
// Constants: N_HEADS, GQA_GROUP, HEAD_DIM, CONTEXT; HEADS, WORKGROUP (at least OCTS), PARTS (see tile_max_*).
@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;     // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(1) var<storage, read> k_cache: array<KvOct>;   // (N_KV_HEADS, CONTEXT, OCTS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvOct>;   // (N_KV_HEADS, CONTEXT, OCTS)

const QUADS = HEAD_DIM / 4;
const OCTS = HEAD_DIM / 8;
const SLICES = WORKGROUP / OCTS;
const HEAD_SLICES = (GQA_GROUP + HEADS - 1) / HEADS; // workgroups that share a KV head's group
const MERGE = min(HEADS, max(256 / WORKGROUP, 1u));  // heads whose slices are added up at once

struct Oct { a: vec4<f32>, b: vec4<f32> }

// What one workgroup attends to: keys `begin` to `end`, which are split `split` of all.
struct Work { kv_head: u32, token: u32, head_slice: u32, split: u32, begin: u32, end: u32 }

var<workgroup> quads: array<vec4<f32>, max(HEADS * QUADS, MERGE * WORKGROUP * 2)>; // q: (HEADS, QUADS); then o of the slices
var<workgroup> tile_p: array<f32, HEADS * WORKGROUP>;                              // p of the tile: (HEADS, WORKGROUP)
var<workgroup> partial: array<f32, PARTS * HEADS>;                                 // (PARTS, HEADS)
var<workgroup> head_m: array<f32, HEADS>;
var<workgroup> head_alpha: array<f32, HEADS>;
var<workgroup> head_l: array<f32, HEADS>;

// Where the workgroup's first query head starts in q and out.
fn first_quad(work: Work) -> u32 {
  return (work.token * N_HEADS + work.kv_head * GQA_GROUP + work.head_slice * HEADS) * QUADS;
}

// The last slice of a group may hold fewer heads than HEADS.
fn live_heads(work: Work) -> u32 { return min(HEADS, GQA_GROUP - work.head_slice * HEADS); }

// Ends with head_m and head_l of the range in workgroup memory, and an emit for every quad of o.
fn attend(work: Work, lid: u32) {
  let cache = work.kv_head * CONTEXT * OCTS;
  let live_quads = live_heads(work) * QUADS;
  for (var i = lid; i < HEADS * QUADS; i += WORKGROUP) {
    quads[i] = vec4(0.0);
    if (i < live_quads) { quads[i] = q[first_quad(work) + i] * softmax_q_scale(); }
  }
  if (lid < HEADS) { head_m[lid] = M_START; }
  workgroupBarrier();

  var l: array<f32, HEADS>; // of this thread's keys
  var o: array<Oct, HEADS>;
  for (var start = work.begin; start < work.end; start += WORKGROUP) {
    let tile = min(WORKGROUP, work.end - start);
    var s = array<f32, HEADS>();
    row_scores(&s, cache + start * OCTS, lid, tile);
    for (var g = 0u; g < HEADS; g++) { s[g] = select(MASKED, s[g], lid < tile); }
    raise_max(&s, lid);
    for (var g = 0u; g < HEADS; g++) {
      let p = softmax_p(s[g], head_m[g]);
      tile_p[g * WORKGROUP + lid] = p;
      l[g] = l[g] * head_alpha[g] + p;
      o[g].a *= head_alpha[g];
      o[g].b *= head_alpha[g];
    }
    workgroupBarrier();
    add_values(&o, cache + start * OCTS, lid, tile);
    workgroupBarrier();
  }

  sum_l(&l, lid);
  for (var first = 0u; first < HEADS; first += MERGE) {
    let heads = min(MERGE, HEADS - first);
    for (var g = 0u; g < heads; g++) {
      quads[(g * WORKGROUP + lid) * 2] = o[first + g].a;
      quads[(g * WORKGROUP + lid) * 2 + 1] = o[first + g].b;
    }
    workgroupBarrier();
    for (var i = lid; i < heads * QUADS; i += WORKGROUP) {
      var sum = vec4(0.0);
      for (var slice = 0u; slice < SLICES; slice++) {
        sum += quads[i / QUADS * WORKGROUP * 2 + slice * QUADS + i % QUADS];
      }
      if (first * QUADS + i < live_quads) { emit(work, first * QUADS + i, sum); }
    }
    workgroupBarrier();
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

// o[g] += p[g, j] v[j] over this thread's keys, four at a time. Keys past the tile are not read, they may hold anything:
// the last key stands in for them, and their p is 0.
fn add_values(o: ptr<function, array<Oct, HEADS>>, tile_cache: u32, lid: u32, tile: u32) {
  if (lid >= SLICES * OCTS) { return; }
  let column = tile_cache + lid % OCTS;
  for (var j = lid / OCTS * 4; j < tile; j += SLICES * 4) {
    let v0 = kv_oct(v_cache[column + j * OCTS]);
    let v1 = kv_oct(v_cache[column + min(j + 1, tile - 1) * OCTS]);
    let v2 = kv_oct(v_cache[column + min(j + 2, tile - 1) * OCTS]);
    let v3 = kv_oct(v_cache[column + min(j + 3, tile - 1) * OCTS]);
    for (var g = 0u; g < HEADS; g++) {
      let p = g * WORKGROUP + j;
      (*o)[g].a += tile_p[p] * v0.a + tile_p[p + 1] * v1.a + tile_p[p + 2] * v2.a + tile_p[p + 3] * v3.a;
      (*o)[g].b += tile_p[p] * v0.b + tile_p[p + 1] * v1.b + tile_p[p + 2] * v2.b + tile_p[p + 3] * v3.b;
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
