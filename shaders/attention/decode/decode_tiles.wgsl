// m, l and o of HEADS query heads that share one KV head, for one token, over a range of keys: each key is visited once
// and each row of K and V is read once for all the heads. Four heads travel in one vec4 (columns). Keys come
// in tiles of WORKGROUP:
//   scores   thread j has the scores of key j (see row_scores_*)
//   max      of the tile, known to every thread (see tile_reduce_*); m and alpha are the same in all
//   values   a thread is eight columns and one of SLICES subsets of the tile's keys
// At the end the slices are added up. The kernel behind this library defines what becomes of four heads, the h-th quad
// of the workgroup's: leave(work, h, m, l), and emit(work, h, d, o, l) with o, not yet divided by l, at dimension d.
// Constants: N_HEADS, N_KV_HEADS, GQA_GROUP, HEAD_DIM, CONTEXT, Q_SCALE; HEADS, WORKGROUP (at least OCTS and 16), PARTS
// (tile_reduce_*). Libraries: columns, kv_*, kv_scales_*.
@group(0) @binding(0) var<storage, read> q: array<f32>;           // (n_tokens, N_HEADS, HEAD_DIM)
@group(0) @binding(1) var<storage, read> k_cache: array<KvOct>;   // (KV_SLOTS, N_KV_HEADS, kv_room(), OCTS)
@group(0) @binding(2) var<storage, read> v_cache: array<KvOct>;   // (KV_SLOTS, N_KV_HEADS, kv_room(), OCTS)

const OCTS = HEAD_DIM / 8;
const SLICES = WORKGROUP / OCTS;
const HEAD_SLICES = (GQA_GROUP + HEADS - 1) / HEADS; // workgroups that share a KV head's group

// What one workgroup attends to: keys `begin` to `end`, which are split `split` of all.
struct Work { kv_head: u32, token: u32, head_slice: u32, split: u32, begin: u32, end: u32 }

var<workgroup> q_heads: array<Heads, HEAD_QUADS * HEAD_DIM>;      // (HEAD_QUADS, 8, OCTS), scaled: see q_at
// p of even and of odd tiles: (2, HEAD_QUADS, WORKGROUP)
var<workgroup> tile_p: array<Heads, 2 * HEAD_QUADS * WORKGROUP>;
var<workgroup> partial: array<Heads, 2 * HEAD_QUADS * PARTS>;     // (2, HEAD_QUADS, PARTS)

// Query head h of the workgroup's, and whether the group has it: the last slice may hold fewer heads than HEADS.
fn query_head(work: Work, h: u32) -> u32 { return work.kv_head * GQA_GROUP + work.head_slice * HEADS + h; }
fn is_live(work: Work, h: u32) -> bool { return h < min(HEADS, GQA_GROUP - work.head_slice * HEADS); }

fn attend(work: Work, lid: u32) {
  load_q(work, lid);
  enter_ring(work.begin);
  let row0 = (kv_slot(work.token) * N_KV_HEADS + work.kv_head) * kv_room();
  let cache = row0 * OCTS;
  var m: Scores;
  for (var h = 0u; h < HEAD_QUADS; h++) { m[h] = Heads(M_START); }
  var l: Scores; // of this thread's keys
  var o: array<Columns, HEAD_QUADS>;
  var odd = 0u;  // tiles take turns with workgroup memory, which saves a barrier at their end
  for (var start = work.begin; start < work.end; start += WORKGROUP) {
    let tile = min(WORKGROUP, work.end - start);
    var k_scale = 1.0;
    var v_scale = 1.0;
    if (KV_SCALED) {
      let row = row0 + slot_of(start + min(lid, tile - 1));
      k_scale = key_scale(row);
      v_scale = value_scale(row);
    }
    var s = Scores();
    row_scores(&s, cache, start, lid, tile);
    for (var h = 0u; h < HEAD_QUADS; h++) { s[h] = select(Heads(MASKED), softcap4(scaled_by(s[h], k_scale)), lid < tile); }
    tile_max(&s, odd, lid);
    workgroupBarrier();
    for (var h = 0u; h < HEAD_QUADS; h++) {
      var m_new = m[h];
      for (var r = 0u; r < PARTS; r++) { m_new = max(m_new, partial[(odd * HEAD_QUADS + h) * PARTS + r]); }
      let alpha = softmax_p4(m[h], m_new);
      let p = softmax_p4(s[h], m_new);
      m[h] = m_new;
      l[h] = l[h] * alpha + p;
      o[h] = scaled(o[h], alpha);
      tile_p[(odd * HEAD_QUADS + h) * WORKGROUP + lid] = scaled_by(p, v_scale);
    }
    workgroupBarrier();
    add_values(&o, cache, start, odd, lid, tile);
    odd = 1 - odd;
  }
  finish(work, &m, &l, &o, lid);
}

// The place of dimension 8 c + j: neighboring octs lie side by side, since neighboring threads read them at once.
fn q_at(h: u32, c: u32, j: u32) -> u32 { return (h * 8 + j) * OCTS + c; }

fn load_q(work: Work, lid: u32) {
  for (var i = lid; i < HEAD_QUADS * HEAD_DIM; i += WORKGROUP) {
    let d = i % HEAD_DIM;
    var x = Heads(0.0);
    for (var j = 0u; j < 4; j++) {
      let h = i / HEAD_DIM * 4 + j;
      if (is_live(work, h)) { x[j] = q[(work.token * N_HEADS + query_head(work, h)) * HEAD_DIM + d]; }
    }
    q_heads[q_at(i / HEAD_DIM, d / 8, d % 8)] = x * Q_SCALE;
  }
  workgroupBarrier();
}

// s + q . k over oct c. (A q that four keys share in registers takes a fifth more time on an H200: too many registers.)
fn score_oct(s: Heads, h: u32, c: u32, k: Oct) -> Heads {
  let i = q_at(h, c, 0);
  return s + q_heads[i] * k.a.x + q_heads[i + OCTS] * k.a.y + q_heads[i + 2 * OCTS] * k.a.z + q_heads[i + 3 * OCTS] * k.a.w
    + q_heads[i + 4 * OCTS] * k.b.x + q_heads[i + 5 * OCTS] * k.b.y + q_heads[i + 6 * OCTS] * k.b.z + q_heads[i + 7 * OCTS] * k.b.w;
}

// Where the cache has scales, a score takes that of its key, and p that of its value.
fn scaled_by(x: Heads, scale: f32) -> Heads {
  if (KV_SCALED) { return x * scale; }
  return x;
}

// o += p[j] v[j] over this thread's keys, eight at a time, by name, since compilers do not hoist loads out of a loop.
// Keys past the tile are not read, they may hold anything: the last key stands in for them, and their p is 0.
fn add_values(o: ptr<function, array<Columns, HEAD_QUADS>>, cache: u32, start: u32, odd: u32, lid: u32, tile: u32) {
  if (lid >= SLICES * OCTS) { return; }
  let column = cache + lid % OCTS;
  for (var j = lid / OCTS; j < tile; j += SLICES * 8) {
    let v0 = v_cache[column + slot_of(start + j) * OCTS];
    let v1 = v_cache[column + slot_of(start + min(j + SLICES, tile - 1)) * OCTS];
    let v2 = v_cache[column + slot_of(start + min(j + 2 * SLICES, tile - 1)) * OCTS];
    let v3 = v_cache[column + slot_of(start + min(j + 3 * SLICES, tile - 1)) * OCTS];
    let v4 = v_cache[column + slot_of(start + min(j + 4 * SLICES, tile - 1)) * OCTS];
    let v5 = v_cache[column + slot_of(start + min(j + 5 * SLICES, tile - 1)) * OCTS];
    let v6 = v_cache[column + slot_of(start + min(j + 6 * SLICES, tile - 1)) * OCTS];
    let v7 = v_cache[column + slot_of(start + min(j + 7 * SLICES, tile - 1)) * OCTS];
    for (var h = 0u; h < HEAD_QUADS; h++) {
      var sum = plus((*o)[h], p_of(j, h, odd, tile), kv_oct(v0));
      sum = plus(sum, p_of(j + SLICES, h, odd, tile), kv_oct(v1));
      sum = plus(sum, p_of(j + 2 * SLICES, h, odd, tile), kv_oct(v2));
      sum = plus(sum, p_of(j + 3 * SLICES, h, odd, tile), kv_oct(v3));
      sum = plus(sum, p_of(j + 4 * SLICES, h, odd, tile), kv_oct(v4));
      sum = plus(sum, p_of(j + 5 * SLICES, h, odd, tile), kv_oct(v5));
      sum = plus(sum, p_of(j + 6 * SLICES, h, odd, tile), kv_oct(v6));
      (*o)[h] = plus(sum, p_of(j + 7 * SLICES, h, odd, tile), kv_oct(v7));
    }
  }
}

fn p_of(j: u32, h: u32, odd: u32, tile: u32) -> Heads {
  return select(Heads(0.0), tile_p[(odd * HEAD_QUADS + h) * WORKGROUP + min(j, WORKGROUP - 1)], j < tile);
}

// Adds up l over the threads and o over the slices, a quarter of the columns at a time, and emits.
fn finish(work: Work, m: ptr<function, Scores>, l: ptr<function, Scores>, o: ptr<function, array<Columns, HEAD_QUADS>>, lid: u32) {
  workgroupBarrier();
  tile_sum(l, 0, lid);
  workgroupBarrier();
  for (var h = 0u; h < HEAD_QUADS; h++) {
    var sum = Heads(0.0);
    for (var r = 0u; r < PARTS; r++) { sum += partial[h * PARTS + r]; }
    if (lid == 0) { leave(work, h, (*m)[h], sum); }
    let c = (*o)[h];
    emit_columns(work, h, 0, c.c0, c.c1, sum, lid);
    emit_columns(work, h, 2, c.c2, c.c3, sum, lid);
    emit_columns(work, h, 4, c.c4, c.c5, sum, lid);
    emit_columns(work, h, 6, c.c6, c.c7, sum, lid);
  }
}

// Columns `first` and the next of every oct.
fn emit_columns(work: Work, h: u32, first: u32, a: Heads, b: Heads, l: Heads, lid: u32) {
  workgroupBarrier();
  tile_p[2 * lid] = a;
  tile_p[2 * lid + 1] = b;
  workgroupBarrier();
  for (var i = lid; i < 2 * OCTS; i += WORKGROUP) {
    var sum = Heads(0.0);
    for (var slice = 0u; slice < SLICES; slice++) { sum += tile_p[2 * slice * OCTS + i]; }
    emit(work, h, i / 2 * 8 + first + i % 2, sum, l);
  }
}
